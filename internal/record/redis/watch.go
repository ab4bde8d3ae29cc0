package redis

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"
)

// Watch calls f with every message on a channel until ctx ends or f returns an error. It returns
// that error, or the error of the connection, or nil if ctx ended. It calls ready, which may be
// nil, once it listens.
func Watch(ctx context.Context, url, channel string, ready func(), f func(message []byte) error) error {
	client, err := newClient(url)
	if err != nil {
		return err
	}
	defer client.Close()
	if channel == "" {
		channel = Channel
	}
	sub := client.Subscribe(ctx, channel)
	defer sub.Close()
	if _, err := sub.Receive(ctx); err != nil {
		return fmt.Errorf("redis: %w", err)
	}
	if ready != nil {
		ready()
	}
	messages := sub.Channel(redis.WithChannelSize(1024))
	for {
		select {
		case m, ok := <-messages:
			if !ok {
				return nil
			}
			if err := f([]byte(m.Payload)); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}

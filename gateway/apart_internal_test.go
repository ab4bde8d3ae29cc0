package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// A panic on the goroutine of apart continues in the caller, so that the server ends the connection.
func TestApart(t *testing.T) {
	ran := false
	apart(func() { ran = true })
	if !ran {
		t.Error("apart did not wait")
	}
	defer func() {
		if err, _ := recover().(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("the panic is %v", err)
		}
	}()
	func() {
		defer func() {
			if text := fmt.Sprint(recover()); !strings.Contains(text, "a mistake") || !strings.Contains(text, "TestApart") {
				t.Errorf("the panic is %s", text)
			}
		}()
		apart(func() { panic("a mistake") })
		t.Error("apart returned")
	}()
	apart(func() { panic(http.ErrAbortHandler) })
	t.Error("apart returned")
}

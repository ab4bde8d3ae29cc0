package channel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"github.com/stopgate/stopgate/internal/bundle"
	"oras.land/oras-go/v2/content"
	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/credentials"
)

// Media types of the artifact and its two layers.
const (
	artifactType  = "application/vnd.stopgate.bundle.v1"
	archiveType   = "application/vnd.stopgate.bundle.archive.v1.tar"
	signatureType = "application/vnd.stopgate.bundle.signature.v1"
)

// registry is a channel of tags in a repository of an OCI registry. A tag is moved at once, so that
// archive and signature always belong together.
type registry struct {
	repository *remote.Repository
	tag        string
}

// openRegistry reads HOST/REPOSITORY:TAG. A registry on this machine is asked without TLS, as other
// clients do.
func openRegistry(reference string, o Options) (Channel, error) {
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return nil, fmt.Errorf("%q is no reference of a registry: want HOST/REPOSITORY:TAG", reference)
	}
	tag := repository.Reference.Reference
	if tag == "" || strings.Contains(tag, ":") {
		return nil, fmt.Errorf("oci://%s names no tag: want HOST/REPOSITORY:TAG", reference)
	}
	host, _, err := net.SplitHostPort(repository.Reference.Registry)
	if err != nil {
		host = repository.Reference.Registry
	}
	address, err := netip.ParseAddr(host)
	repository.PlainHTTP = host == "localhost" || err == nil && address.IsLoopback()
	client := &auth.Client{Client: &http.Client{Transport: o.Transport}, Cache: auth.NewCache()}
	if store, err := credentials.NewStoreFromDocker(credentials.StoreOptions{}); err == nil {
		client.Credential = credentials.Credential(store)
	}
	repository.Client = client
	return &registry{repository, tag}, nil
}

// String returns the URL.
func (r *registry) String() string {
	return "oci://" + r.repository.Reference.Registry + "/" + r.repository.Reference.Repository + ":" + r.tag
}

// earlier is the tag of a generation.
func (r *registry) earlier(n uint64) string { return fmt.Sprintf("%s-%d", r.tag, n) }

// Fetch resolves the tag, and fetches the layers if it was moved.
func (r *registry) Fetch(ctx context.Context, tag string) (bundle.Signed, error) {
	return r.fetch(ctx, r.tag, tag)
}

// Generation fetches an earlier bundle.
func (r *registry) Generation(ctx context.Context, n uint64) (bundle.Signed, error) {
	return r.fetch(ctx, r.earlier(n), "")
}

func (r *registry) fetch(ctx context.Context, reference, tag string) (s bundle.Signed, err error) {
	at, err := r.repository.Resolve(ctx, reference)
	if errors.Is(err, errdef.ErrNotFound) {
		return s, fmt.Errorf("%w: %w", bundle.ErrNone, err)
	}
	if err != nil {
		return s, err
	}
	if s.Tag = at.Digest.String(); s.Tag == tag {
		return bundle.Signed{}, bundle.ErrUnchanged
	}
	text, err := r.bytes(ctx, at, maxManifest)
	if err != nil {
		return bundle.Signed{}, err
	}
	var m ocispec.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return bundle.Signed{}, fmt.Errorf("manifest of %s: %w", reference, err)
	}
	if m.ArtifactType != artifactType || len(m.Layers) != 2 || m.Layers[0].MediaType != archiveType || m.Layers[1].MediaType != signatureType {
		return bundle.Signed{}, fmt.Errorf("%s is no policy bundle (%s with two layers)", reference, artifactType)
	}
	if s.Archive, err = r.bytes(ctx, m.Layers[0], bundle.MaxArchive); err == nil {
		s.Signature, err = r.bytes(ctx, m.Layers[1], bundle.MaxSignature)
	}
	if err != nil {
		return bundle.Signed{}, err
	}
	return s, nil
}

// maxManifest is the maximum size of the manifest of a registry.
const maxManifest = 64 << 10

// bytes fetches a blob of limited size and verifies its digest.
func (r *registry) bytes(ctx context.Context, d ocispec.Descriptor, most int64) ([]byte, error) {
	if d.Size < 0 || d.Size > most {
		return nil, fmt.Errorf("%s has %d bytes, more than %d", d.Digest, d.Size, most)
	}
	return content.FetchAll(ctx, r.repository, d)
}

// Push uploads the layers and moves the tags.
func (r *registry) Push(ctx context.Context, generation uint64, s bundle.Signed) error {
	var layers []ocispec.Descriptor
	for _, l := range []struct {
		media string
		data  []byte
	}{{archiveType, s.Archive}, {signatureType, s.Signature}} {
		d := content.NewDescriptorFromBytes(l.media, l.data)
		layers = append(layers, d)
		if err := r.put(ctx, d, l.data); err != nil {
			return err
		}
	}
	at, err := r.manifest(ctx, layers)
	if err != nil {
		return err
	}
	for _, tag := range []string{r.earlier(generation), r.tag} {
		if err := r.repository.Tag(ctx, at, tag); err != nil {
			return err
		}
	}
	return nil
}

// manifest uploads the manifest of an artifact, as version 1.1 of the specification of images describes
// it, with an empty configuration. It is the same for the same layers.
func (r *registry) manifest(ctx context.Context, layers []ocispec.Descriptor) (at ocispec.Descriptor, err error) {
	if err := r.put(ctx, ocispec.DescriptorEmptyJSON, ocispec.DescriptorEmptyJSON.Data); err != nil {
		return at, fmt.Errorf("upload of the configuration: %w", err)
	}
	text, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, ArtifactType: artifactType,
		Config: ocispec.DescriptorEmptyJSON, Layers: layers, Annotations: map[string]string{ocispec.AnnotationCreated: "1970-01-01T00:00:00Z"},
	})
	if err != nil {
		return at, fmt.Errorf("manifest: %w", err)
	}
	at = content.NewDescriptorFromBytes(ocispec.MediaTypeImageManifest, text)
	at.ArtifactType = artifactType
	if err := r.repository.Push(ctx, at, bytes.NewReader(text)); err != nil && !errors.Is(err, errdef.ErrAlreadyExists) {
		return at, fmt.Errorf("upload of the manifest: %w", err)
	}
	return at, nil
}

// put uploads a blob unless it is there.
func (r *registry) put(ctx context.Context, d ocispec.Descriptor, data []byte) error {
	there, err := r.repository.Exists(ctx, d)
	if err != nil || there {
		return err
	}
	return r.repository.Push(ctx, d, bytes.NewReader(data))
}

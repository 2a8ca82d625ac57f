package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"
)

// The image is written as the OCI image layout describes it, in a tar archive that podman, skopeo,
// buildah and containerd read.

const (
	indexType    = "application/vnd.oci.image.index.v1+json"
	manifestType = "application/vnd.oci.image.manifest.v1+json"
	configType   = "application/vnd.oci.image.config.v1+json"
	layerType    = "application/vnd.oci.image.layer.v1.tar+gzip"
)

type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int               `json:"size"`
	Platform    *imagePlatform    `json:"platform,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

type imagePlatform struct {
	Architecture string `json:"architecture"`
	OS           string `json:"os"`
}

type manifest struct {
	Schema    int          `json:"schemaVersion"`
	MediaType string       `json:"mediaType"`
	Config    *descriptor  `json:"config,omitempty"`
	Layers    []descriptor `json:"layers,omitempty"`
	Manifests []descriptor `json:"manifests,omitempty"`
}

type imageConfig struct {
	Created time.Time `json:"created"`
	imagePlatform
	Config runConfig `json:"config"`
	Layers rootFS    `json:"rootfs"`
}

type runConfig struct {
	User       string
	Entrypoint []string
	Labels     map[string]string
}

type rootFS struct {
	Type    string   `json:"type"`
	DiffIDs []string `json:"diff_ids"`
}

// An oci collects the blobs of a layout.
type oci struct{ files []file }

func (o *oci) add(kind string, data []byte) descriptor {
	sum := fmt.Sprintf("%x", sha256.Sum256(data))
	o.files = append(o.files, file{name: "blobs/sha256/" + sum, data: data})
	return descriptor{MediaType: kind, Digest: "sha256:" + sum, Size: len(data)}
}

func (o *oci) addJSON(kind string, v any) (descriptor, error) {
	data, err := json.Marshal(v)
	return o.add(kind, data), err
}

// ociImage is one image for all processors whose programs run without a C library.
func ociImage(c commit, programs []program) ([]file, error) {
	var o oci
	index := manifest{Schema: 2, MediaType: indexType}
	for _, b := range programs {
		if !b.image {
			continue
		}
		d, err := o.image(c, b)
		if err != nil {
			return nil, err
		}
		index.Manifests = append(index.Manifests, d)
	}
	if index.Manifests == nil {
		return nil, nil
	}
	inner, err := o.addJSON(indexType, index)
	if err != nil {
		return nil, err
	}
	inner.Annotations = map[string]string{"org.opencontainers.image.ref.name": c.version}
	top, err := json.Marshal(manifest{Schema: 2, MediaType: indexType, Manifests: []descriptor{inner}})
	if err != nil {
		return nil, err
	}
	files := append(sorted(o.files), file{name: "index.json", data: top}, file{name: "oci-layout", data: []byte(`{"imageLayoutVersion":"1.0.0"}`)})
	var b bytes.Buffer
	err = writeTar(&b, files, c.time, "")
	return []file{{name: "utvi-" + c.version + "-oci.tar", data: b.Bytes()}}, err
}

// image adds the program, and what belongs to it, as one layer.
func (o *oci) image(c commit, b program) (descriptor, error) {
	var layer bytes.Buffer
	files := []file{
		{name: "THIRD-PARTY-LICENSES.txt", data: b.licences},
		{name: "utvi", data: b.data, executable: true},
		{name: "utvi.cdx.json", data: b.bill},
	}
	if err := writeTar(&layer, files, c.time, ""); err != nil {
		return descriptor{}, err
	}
	small, err := gzipped(layer.Bytes(), gzip.DefaultCompression)
	if err != nil {
		return descriptor{}, err
	}
	system := imagePlatform{Architecture: b.arch, OS: b.os}
	config, err := o.addJSON(configType, imageConfig{
		Created: c.time, imagePlatform: system,
		Config: runConfig{User: "65532:65532", Entrypoint: []string{"/utvi"}, Labels: map[string]string{
			"org.opencontainers.image.version": c.version, "org.opencontainers.image.revision": c.hash, "org.opencontainers.image.licenses": "MIT"}},
		Layers: rootFS{Type: "layers", DiffIDs: []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer.Bytes()))}},
	})
	if err != nil {
		return descriptor{}, err
	}
	d, err := o.addJSON(manifestType, manifest{Schema: 2, MediaType: manifestType, Config: &config, Layers: []descriptor{o.add(layerType, small)}})
	d.Platform = &system
	return d, err
}

package attack

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"utvi/serve/oip"
)

// photographs makes a folder of small images of two classes.
func photographs(t testing.TB, folder string) {
	for i := range 40 {
		im := image.NewGray(image.Rect(0, 0, 12, 12))
		for k := range im.Pix {
			im.Pix[k] = byte(100*(i%2) + (k*37+i*11)%90)
		}
		class := filepath.Join(folder, []string{"dark", "bright"}[i%2])
		if err := os.MkdirAll(class, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(class, fmt.Sprint(i, ".png")), encoded(im), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func encoded(im image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, im); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// flat is a PNG of one colour: small, however many pixels it has.
func flat(width, height int) []byte {
	return encoded(image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Black}))
}

// headed is a file of chunks as WebP has them.
func headed(body string) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+len(body))), "WEBP"+body...)
}

// manyCodes is a WebP of 4 × 4 pixels with the last of 65,536 tables of codes.
func manyCodes() []byte {
	return headed("VP8L\x14\x00\x00\x00\x2f\x03\xc0\x00\x00\x84\xfe\xf7\xbf\x00\x05\x28\x00\x00\x00\x00\x00\x00\x00\x00")
}

// bombTIFF is a TIFF of 8 × 8 pixels whose strip unpacks to gigabytes.
func bombTIFF() []byte {
	var strip bytes.Buffer
	w := zlib.NewWriter(&strip)
	zeros := make([]byte, 1<<20)
	for range 4000 {
		w.Write(zeros)
	}
	w.Close()
	b := append([]byte("II*\x00\x00\x00\x00\x00"), strip.Bytes()...)
	binary.LittleEndian.PutUint32(b[4:], uint32(len(b)))
	entries := [][2]uint32{{256, 8}, {257, 8}, {258, 8}, {259, 8}, {262, 1}, {273, 8}, {278, 1<<32 - 1}, {279, uint32(strip.Len())}}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(entries)))
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, uint16(e[0]))
		b = binary.LittleEndian.AppendUint16(b, 4)
		b = binary.LittleEndian.AppendUint32(b, 1)
		b = binary.LittleEndian.AppendUint32(b, e[1])
	}
	return append(b, 0, 0, 0, 0)
}

// manyScans is a JPEG that goes over its pixels without end.
func manyScans() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 2000, 2000)), nil); err != nil {
		panic(err)
	}
	return append(b.Bytes(), bytes.Repeat([]byte("\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"), 1_000_000)...)
}

// imageAttacks are images that take more than they are long, as bodies, in JSON and in messages.
func imageAttacks() []attack {
	const path, infer = "/predict/pictures", "/v2/models/pictures/infer"
	var all []attack
	for _, x := range []struct {
		name string
		make func() []byte
	}{
		{"a PNG of a hundred megapixels", func() []byte { return flat(10_000, 10_000) }},
		{"a PNG of two megapixels", func() []byte { return flat(1500, 1500) }},
		{"a PNG of sixteen bits", func() []byte { return encoded(image.NewNRGBA64(image.Rect(0, 0, 1100, 1100))) }},
		{"a PNG in one line", func() []byte { return flat(2_000_000, 1) }},
		{"a WebP of many codes", manyCodes},
		{"a WebP of two sizes", func() []byte {
			return headed("VP8X\x0a\x00\x00\x00" + strings.Repeat("\x00", 10) + "VP8L\x06\x00\x00\x00\x2f\xff\xff\xff\x0f\x00")
		}},
		{"a TIFF that unpacks to gigabytes", bombTIFF},
		{"a JPEG of a million scans", manyScans},
	} {
		all = append(all, attack{x.name, func(ctx context.Context, a *arena) {
			b := x.make()
			text := base64.StdEncoding.EncodeToString(b)
			together(9, func(i int) {
				switch i % 3 {
				case 0:
					a.post(ctx, path, string(b), "Content-Type", "image/png")
				case 1:
					a.post(ctx, path, `{"rows":[{"file":"`+text+`"}]}`)
				case 2:
					oip.NewGRPCInferenceServiceClient(a.dial(from("127.0.0.1"))).ModelInfer(insider(ctx), &oip.ModelInferRequest{ModelName: "pictures", Inputs: []*oip.ModelInferRequest_InferInputTensor{
						{Name: "file", Datatype: "BYTES", Shape: []int64{1}, Contents: &oip.InferTensorContents{BytesContents: [][]byte{[]byte(text)}}}}})
				}
			})
		}})
	}
	many := func(name, path, head, tail string, side int) attack {
		return attack{name, func(ctx context.Context, a *arena) {
			text := `"` + base64.StdEncoding.EncodeToString(flat(side, side)) + `"`
			body := head + strings.Repeat(text+",", 9_999) + text + tail
			if len(body) > mib {
				a.t.Errorf("%s: the body is longer than the server reads", name)
			}
			together(4, func(int) { a.post(ctx, path, body) })
		}}
	}
	return append(all,
		many("ten thousand small images", infer, `{"inputs":[{"name":"file","datatype":"BYTES","shape":[10000],"data":[`, `]}]}`, 12),
		many("ten thousand larger images", infer, `{"inputs":[{"name":"file","datatype":"BYTES","shape":[10000],"data":[`, `]}]}`, 500),
		many("a row of ten thousand images", path, `{"rows":[[`, `]]}`, 12))
}

package images

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"

	"utvi/internal/pixels"
)

// corners is an image of which no two corners are alike, 4 wide and 3 high.
func corners() *image.NRGBA {
	im := image.NewNRGBA(image.Rect(0, 0, 4, 3))
	for i := range im.Pix {
		im.Pix[i] = 255
	}
	im.Set(0, 0, color.NRGBA{255, 0, 0, 255})
	im.Set(3, 0, color.NRGBA{0, 255, 0, 255})
	im.Set(0, 2, color.NRGBA{0, 0, 255, 255})
	im.Set(1, 1, color.NRGBA{0, 0, 0, 0}) // which is laid on white
	return im
}

func at(im *pixels.Image, y, x int) [3]float32 {
	p := im.Pix[(y*im.Width+x)*im.Channels:]
	if im.Channels == 1 {
		return [3]float32{p[0], p[0], p[0]}
	}
	return [3]float32{p[0], p[1], p[2]}
}

func TestFormats(t *testing.T) {
	from := corners()
	colours := image.NewPaletted(from.Bounds(), color.Palette{color.White, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.NRGBA{0, 0, 255, 255}, color.Transparent})
	for y := range 3 {
		for x := range 4 {
			colours.Set(x, y, from.At(x, y))
		}
	}
	deep := image.NewNRGBA64(from.Bounds())
	for y := range 3 {
		for x := range 4 {
			deep.Set(x, y, from.At(x, y))
		}
	}
	files := map[string][]byte{}
	write := func(name string, f func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := f(&b); err != nil {
			t.Fatal(err)
		}
		files[name] = b.Bytes()
	}
	write("png", func(b *bytes.Buffer) error { return png.Encode(b, from) })
	write("png of 16 bits", func(b *bytes.Buffer) error { return png.Encode(b, deep) })
	write("png of a palette", func(b *bytes.Buffer) error { return png.Encode(b, colours) })
	write("gif", func(b *bytes.Buffer) error { return gif.Encode(b, colours, nil) })
	write("bmp", func(b *bytes.Buffer) error { return bmp.Encode(b, onWhite(from)) })
	write("tiff", func(b *bytes.Buffer) error { return tiff.Encode(b, from, nil) })
	for name, b := range files {
		im, err := pixels.Decode(b)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if im.Height != 3 || im.Width != 4 || im.Channels != 3 || im.Bytes == strings.Contains(name, "16") {
			t.Errorf("%s: %d × %d × %d, bytes %v", name, im.Height, im.Width, im.Channels, im.Bytes)
		}
		for at2, want := range map[[2]int][3]float32{{0, 0}: {1, 0, 0}, {0, 3}: {0, 1, 0}, {2, 0}: {0, 0, 1}, {1, 1}: {1, 1, 1}, {2, 3}: {1, 1, 1}} {
			if got := at(im, at2[0], at2[1]); got != want {
				t.Errorf("%s: pixel %v is %v, want %v", name, at2, got, want)
			}
		}
	}
}

func onWhite(from image.Image) image.Image {
	im := image.NewRGBA(from.Bounds())
	for y := range 3 {
		for x := range 4 {
			im.Set(x, y, color.White)
			if _, _, _, a := from.At(x, y).RGBA(); a > 0 {
				im.Set(x, y, from.At(x, y))
			}
		}
	}
	return im
}

// Sixteen bits of grey keep what eight bits would lose.
func TestDeepGrey(t *testing.T) {
	from := image.NewGray16(image.Rect(0, 0, 2, 1))
	from.SetGray16(0, 0, color.Gray16{Y: 1000})
	from.SetGray16(1, 0, color.Gray16{Y: 1001})
	var b bytes.Buffer
	if err := png.Encode(&b, from); err != nil {
		t.Fatal(err)
	}
	im, err := pixels.Decode(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if im.Channels != 1 || im.Bytes || im.Pix[0] != float32(1000)/65535 || im.Pix[1] != float32(1001)/65535 {
		t.Errorf("%+v", im)
	}
}

// header is a PNG that says it has so many pixels, and has none.
func header(width, height uint32) []byte {
	b := []byte("\x89PNG\r\n\x1a\n")
	body := binary.BigEndian.AppendUint32([]byte("IHDR"), width)
	body = binary.BigEndian.AppendUint32(body, height)
	body = append(body, 8, 2, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)-4))
	b = append(b, body...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(body))
}

// cmyk makes a JPEG say that it has four channels.
func cmyk(t *testing.T) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, corners(), nil); err != nil {
		t.Fatal(err)
	}
	out := b.Bytes()
	at := bytes.Index(out, []byte{0xff, 0xc0})
	frame := append([]byte{}, out[at:at+10+9]...)
	frame[3] += 3
	frame[9] = 4
	for i := range 3 { // equal sampling
		frame[10+3*i+1] = 0x11
	}
	frame = append(frame, 4, 0x11, 0)
	return append(append(append([]byte{}, out[:at]...), frame...), out[at+10+9:]...)
}

func TestRefused(t *testing.T) {
	var one, two bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 2, 2), color.Palette{color.Black, color.White})
	if err := gif.EncodeAll(&two, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := gif.EncodeAll(&one, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{1}}); err != nil {
		t.Fatal(err)
	}
	if _, err := pixels.Decode(one.Bytes()); err != nil {
		t.Errorf("a GIF of one image: %v", err)
	}
	var whole bytes.Buffer
	if err := png.Encode(&whole, corners()); err != nil {
		t.Fatal(err)
	}
	animated := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00"), 1, 0, 0, 1, 0, 0)
	for _, x := range []struct {
		name string
		b    []byte
		want string
	}{
		{"nothing", nil, "the file is empty"},
		{"text", []byte("hello"), "it is no image that is known; known are png, jpeg, gif, bmp, webp, tiff"},
		{"100 megapixels", header(10_000, 10_000), "it has 10000 × 10000 pixels, 100 million; at most 50 million are read: make it smaller"},
		{"a bomb", header(200_000, 200_000), "million; at most 50 million are read"},
		{"an animation", two.Bytes(), errAnimated.Error()},
		{"an animated WebP", animated, errAnimated.Error()},
		{"CMYK", cmyk(t), "its colours are CMYK, inks of a printer; save it as RGB"},
		{"half an image", whole.Bytes()[:whole.Len()/2], "the png image cannot be read: "},
	} {
		_, err := pixels.Decode(x.b)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", x.name, err, x.want)
		}
	}
}

// Damaged files are errors, never panics.
func FuzzDecode(f *testing.F) {
	var b bytes.Buffer
	jpeg.Encode(&b, corners(), nil)
	f.Add(b.Bytes())
	f.Add(header(3, 3))
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		im, err := pixels.Decode(b)
		if err == nil && len(im.Pix) != im.Height*im.Width*im.Channels {
			t.Error("the image has another size")
		}
		orientation(b)
	})
}

// The other seven ways to hold a camera all give the same upright image.
func TestOrientation(t *testing.T) {
	want := numbers(corners())
	for o := 2; o <= 8; o++ {
		held := &pixels.Image{Height: want.Height, Width: want.Width, Channels: 3, Pix: make([]float32, len(want.Pix))}
		if o >= 5 {
			held.Height, held.Width = want.Width, want.Height
		}
		for y := range want.Height {
			for x := range want.Width {
				fromY, fromX := source(o, y, x, held.Height, held.Width)
				copy(held.Pix[(fromY*held.Width+fromX)*3:][:3], want.Pix[(y*want.Width+x)*3:])
			}
		}
		got := upright(held, o)
		if got.Height != 3 || got.Width != 4 {
			t.Fatalf("orientation %d: %d × %d", o, got.Height, got.Width)
		}
		for i, v := range want.Pix {
			if got.Pix[i] != v {
				t.Fatalf("orientation %d: number %d is %v, want %v", o, i, got.Pix[i], v)
			}
		}
	}
	// A camera turned to the left writes 6: the first row is the right side of the upright image.
	if y, x := source(6, 0, 0, 10, 20); y != 9 || x != 0 {
		t.Errorf("orientation 6 takes the first pixel from %d, %d", y, x)
	}
}

// The tag is found behind other segments, in both orders of bytes.
func TestOrientationTag(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, corners(), nil); err != nil {
		t.Fatal(err)
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		exif := []byte("Exif\x00\x00II*\x00")
		if order == binary.AppendByteOrder(binary.BigEndian) {
			exif = []byte("Exif\x00\x00MM\x00*")
		}
		exif = order.AppendUint32(exif, 8)
		exif = order.AppendUint16(exif, 1)
		exif = order.AppendUint16(exif, 0x0112)
		exif = order.AppendUint16(exif, 3)
		exif = order.AppendUint32(exif, 1)
		exif = order.AppendUint16(exif, 6)
		exif = append(exif, 0, 0)
		file := append([]byte{0xff, 0xd8, 0xff, 0xe1}, byte((len(exif)+2)>>8), byte(len(exif)+2))
		file = append(append(file, exif...), plain.Bytes()[2:]...)
		if got := orientation(file); got != 6 {
			t.Errorf("orientation %d, want 6", got)
		}
		im, err := pixels.Decode(file)
		if err != nil || im.Height != 4 || im.Width != 3 {
			t.Errorf("%v %+v", err, im)
		}
		if s, err := (pixels.Reader{Inline: true}).Size(base64.StdEncoding.EncodeToString(file)); err != nil || s != (pixels.Size{Height: 4, Width: 3, Channels: 3}) {
			t.Errorf("the header says %+v, %v", s, err)
		}
	}
	if got := orientation(plain.Bytes()); got != 1 {
		t.Errorf("orientation %d without a tag", got)
	}
}

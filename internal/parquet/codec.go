package parquet

import (
	"bytes"
	"fmt"
	"io"

	"github.com/dsnet/compress/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// codecs keeps decompressors, which are expensive to make.
type codecs struct {
	zstd   *zstd.Decoder
	gzip   *gzip.Reader
	brotli *brotli.Reader
}

// NewEncoder returns an encoder of pages. Numbers rarely repeat as strings of
// bytes, but their upper bytes do: so bytes are entropy-coded where there are
// no matches.
func NewEncoder(level zstd.EncoderLevel) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(level),
		zstd.WithAllLitEntropyCompression(true),
		zstd.WithEncoderConcurrency(1)) // more encoders change nothing, but cost memory
}

// unpack decompresses the body of a page to n bytes. The result is the body
// itself if that is not compressed.
func (r *Room) unpack(codec Codec, body []byte, n int) ([]byte, error) {
	if codec == Uncompressed {
		if len(body) != n {
			return nil, errShortPage
		}
		return body, nil
	}
	switch codec {
	case Snappy, Gzip, Brotli, Zstd, LZ4Raw:
	default:
		return nil, fmt.Errorf("pages are compressed with %v, which is not supported", codec)
	}
	out, err := r.grow(&r.unpacked, n)
	if err != nil || n == 0 {
		return out, err
	}
	if err := r.unpackInto(out, codec, body); err != nil {
		return nil, notPacked(codec, err)
	}
	return out, nil
}

func notPacked(codec Codec, err error) error {
	return fmt.Errorf("the Parquet file is damaged: a page is not %v: %w", codec, err)
}

// unpackInto fills out, which has the length that the page's header says. A
// panic of a decompressor is an error.
func (r *Room) unpackInto(out []byte, codec Codec, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the decompressor fails: %v", p)
		}
	}()
	got := -1
	switch codec {
	case Snappy:
		if got, err = snappy.DecodedLen(body); err == nil && got == len(out) {
			_, err = snappy.Decode(out, body)
		}
	case Zstd:
		if r.zstd == nil {
			r.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1),
				zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderLowmem(true))
			if err != nil {
				return err
			}
		}
		var data []byte
		data, err = r.zstd.DecodeAll(body, out[:0:len(out)])
		got = len(data)
	case LZ4Raw:
		got, err = lz4.UncompressBlock(body, out)
	case Gzip:
		if r.gzip == nil {
			r.gzip = new(gzip.Reader)
		}
		if err = r.gzip.Reset(bytes.NewReader(body)); err == nil {
			got, err = io.ReadFull(r.gzip, out)
		}
	case Brotli:
		if r.brotli == nil {
			r.brotli = new(brotli.Reader)
		}
		if err = r.brotli.Reset(bytes.NewReader(body)); err == nil {
			got, err = io.ReadFull(r.brotli, out)
		}
	}
	if err == nil && got != len(out) {
		err = fmt.Errorf("it has %d bytes, its header says %d", got, len(out))
	}
	return err
}

package remote

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
)

// client asks servers. It has timeouts for all that comes before a body.
var client = &http.Client{
	Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 20 * time.Second}).DialContext,
		TLSHandshakeTimeout:   20 * time.Second,
		ResponseHeaderTimeout: silence,
		IdleConnTimeout:       silence,
		MaxIdleConnsPerHost:   64,
		ForceAttemptHTTP2:     true,
	},
	CheckRedirect: stayOnHost,
}

// stayOnHost refuses redirections to hosts that nobody has named.
func stayOnHost(req *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0].URL
	switch {
	case len(via) > most:
		return &failure{text: "the server redirects without an end"}
	case req.URL.Host != first.Host, first.Scheme == "https" && req.URL.Scheme != "https":
		return &failure{text: fmt.Sprintf("the server redirects to %s, which nobody has named; "+
			"name the file there if you trust it", req.URL.Redacted())}
	}
	return nil
}

// target is where a file is, and how requests for it are signed.
type target struct {
	url  *url.URL
	keys *aws.Credentials // nil if requests are not signed
	s3   bool
}

// targetOf returns the target of a name.
func targetOf(name string) (target, error) {
	if isS3(name) {
		bucket, key := cutS3(name)
		if key == "" {
			return target{}, &failure{text: "the URL names no object: s3://BUCKET/KEY"}
		}
		return s3Target(bucket, key)
	}
	u, err := url.Parse(name)
	if err != nil || u.Host == "" {
		return target{}, &failure{text: "this is no URL"}
	}
	return target{url: u}, nil
}

// cutS3 returns the bucket and the key of an s3 URL.
func cutS3(name string) (bucket, key string) {
	bucket, key, _ = strings.Cut(name[len("s3://"):], "/")
	return bucket, key
}

// s3Target returns the target of a key, or of a bucket if the key is empty.
func s3Target(bucket, key string) (target, error) {
	t := target{s3: true}
	endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	switch {
	case endpoint != "":
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" {
			return t, &failure{text: "the endpoint " + endpoint + " of the environment is no URL"}
		}
		u.Path = strings.TrimSuffix(u.Path, "/") + "/" + bucket
		t.url = u
	case strings.Contains(bucket, "."): // which certificates do not cover
		t.url = &url.URL{Scheme: "https", Host: "s3." + region() + ".amazonaws.com", Path: "/" + bucket}
	default:
		t.url = &url.URL{Scheme: "https", Host: bucket + ".s3." + region() + ".amazonaws.com"}
	}
	t.url.Path += "/" + key
	t.url.RawPath = escapeKey(t.url.Path)
	id, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if id != "" && secret != "" {
		t.keys = &aws.Credentials{AccessKeyID: id, SecretAccessKey: secret,
			SessionToken: os.Getenv("AWS_SESSION_TOKEN")}
	}
	return t, nil
}

// escapeKey escapes all but what signatures leave as it is.
func escapeKey(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(url.QueryEscape(p), "+", "%20")
	}
	return strings.Join(parts, "/")
}

func region() string {
	return cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), "us-east-1")
}

// do sends a request.
func (t target) do(ctx context.Context, to *url.URL, header http.Header) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), nil)
	if err != nil {
		return nil, err
	}
	req.URL = to
	req.Header = header
	if t.keys != nil {
		// The hash of no body.
		const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
		req.Header.Set("X-Amz-Content-Sha256", empty)
		signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		if err := signer.SignHTTP(ctx, *t.keys, req, empty, "s3", region(), time.Now()); err != nil {
			return nil, err
		}
	}
	if t.s3 {
		resp, err := client.Transport.RoundTrip(req) // redirections would not be signed
		return resp, err
	}
	return client.Do(req)
}

// IsPattern reports whether a URL stands for the objects of a bucket that match
// it, or that are in a folder.
func IsPattern(name string) bool {
	if !isS3(name) {
		return false
	}
	_, key := cutS3(name)
	return strings.ContainsAny(key, "*?[") || strings.HasSuffix(key, "/") || key == ""
}

// List returns the URLs of the objects that a pattern stands for, in order. As
// in the names of files, * and ? stand for no slash.
func List(ctx context.Context, pattern string) ([]string, error) {
	bucket, key := cutS3(pattern)
	prefix := key
	if i := strings.IndexAny(key, "*?["); i >= 0 {
		prefix = key[:i]
	}
	if _, err := path.Match(key, ""); err != nil {
		return nil, &failure{text: "this is no pattern: a [ needs its ]"}
	}
	t, err := s3Target(bucket, "")
	if err != nil {
		return nil, err
	}
	var out []string
	for token := ""; ; {
		page, err := t.page(ctx, prefix, token)
		if err != nil {
			return nil, err
		}
		for _, o := range page.Contents {
			matches, _ := path.Match(key, o.Key)
			isFolder := strings.HasSuffix(o.Key, "/")
			if !isFolder && (matches || prefix == key) {
				out = append(out, "s3://"+bucket+"/"+o.Key)
			}
		}
		if token = page.NextContinuationToken; !page.IsTruncated || token == "" {
			slices.Sort(out)
			return out, nil
		}
	}
}

// listing is a page of the names of objects.
type listing struct {
	Contents              []struct{ Key string }
	IsTruncated           bool
	NextContinuationToken string
}

// page asks for a page of the objects whose keys have a prefix.
func (t target) page(ctx context.Context, prefix, token string) (*listing, error) {
	query := url.Values{"list-type": {"2"}, "prefix": {prefix}}
	if token != "" {
		query.Set("continuation-token", token)
	}
	to := *t.url
	to.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20")
	try := newAttempts(ctx)
	for {
		page, err := t.pageOnce(ctx, &to)
		if err == nil {
			return page, nil
		}
		if err := try.again(err); err != nil {
			return nil, err
		}
	}
}

func (t target) pageOnce(ctx context.Context, to *url.URL) (*listing, error) {
	const most = 16 << 20 // a page has a thousand keys
	resp, err := t.do(ctx, to, http.Header{})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if err := statusError(resp); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, most))
	if err != nil {
		return nil, err
	}
	page := &listing{}
	if err := xml.Unmarshal(text, page); err != nil {
		return nil, errors.New("the server's list of objects is not as S3 has it")
	}
	return page, nil
}

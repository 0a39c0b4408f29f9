// Package remote reads files of web servers and of object stores.
//
// In: a URL that begins with https://, http:// or s3://. Out: a file that is
// read from its start or at any place, and the names of the objects that a
// pattern stands for. It imports net/http and the signer of AWS's SDK, and must
// not import any package of redfox.
//
// # Ranges
//
// A file is read in ranges, so that a column of a Parquet file costs its bytes
// and no more. Open asks for the first 64 KiB, which shows the size, whether
// the server knows ranges, and the version of the object. Every later request
// names that version (If-Match), and its answer is compared with it: a file
// that changes while it is read is an error, never a mixture. A server without
// ranges sends the whole file.
//
// # Failures
//
// A request that fails for want of the network, a short answer, and answers
// that say "later" (408, 429, 500, 502, 503, 504) are tried again, five times
// without progress, after growing pauses. Bytes that have arrived are not asked
// for again.
//
// # Hosts
//
// Only the host of the URL is asked, over the proxy of the environment if there
// is one. A redirection leads elsewhere on that host or is an error.
//
// # S3
//
// s3://BUCKET/KEY is read from AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, or from
// Amazon's host of the bucket in AWS_REGION or AWS_DEFAULT_REGION. Requests are
// signed with AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN if
// these are set.
package remote

module github.com/redfoxdb/redfox/internal/cuda/gorgonia

go 1.26.0

require (
	github.com/redfoxdb/redfox v0.0.0
	gorgonia.org/cu v0.9.6
)

require (
	github.com/ebitengine/purego v0.11.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/pkg/errors v0.9.1 // indirect
)

replace github.com/redfoxdb/redfox => ../../..

# The commands of .ci/run that a contributor needs most. "make" alone is the first.
.PHONY: quick full race page python gate

quick: # a few minutes: before every commit
	go build ./... && go vet ./... && go tool staticcheck ./... && go test ./...

full: # calibration, coverage, whole searches, killed processes, real data
	GRFGP_FULL=1 go test -timeout 60m ./...

race: # needs a C compiler
	CGO_ENABLED=1 go test -race ./...

page: # types and units need node and npm; the rest a browser
	cd server/web && npm ci --silent
	go test -count=1 ./server/web && cd e2e && go test ./...

python: # the wheel of this platform, installed and tested
	.ci/python

gate: # everything that must hold before a change lands
	.ci/run

# An image with the program and nothing else: docker build -t grfgp --build-arg COMMIT="$(git rev-parse HEAD)" .
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG COMMIT
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X grfgp/internal/version.commit=$COMMIT" -o /image/grfgp ./cmd/grfgp && mkdir /image/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /image/grfgp /grfgp
COPY --from=build --chown=65532:65532 /image/data /data
USER 65532:65532
VOLUME /data
ENV GRFGP_STORE=/data/studies.db
EXPOSE 8080
ENTRYPOINT ["/grfgp"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--allow-remote", "--log", "json"]

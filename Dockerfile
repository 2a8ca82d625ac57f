# The command alone, static, run by nobody in particular:
#   docker build -t utvi:1 .
#   docker run --rm -v "$PWD:/results" --user "$(id -u)" -w /results utvi:1 sweep run plan.json
#   docker run --rm -v "$PWD:/models:ro" -p 127.0.0.1:8080:8080 utvi:1 serve /models/price.utvi --http :8080
# A tag can be moved; to pin the image that builds, give its digest:
#   docker build --build-arg GO_IMAGE=golang:1.26@sha256:… -t utvi:1 .
ARG GO_IMAGE=golang:1.26
FROM ${GO_IMAGE} AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# nocuda: calling a driver takes the C library, which an empty image does not have.
RUN go generate ./internal/browser && \
    CGO_ENABLED=0 go build -mod=readonly -tags nocuda,page -trimpath -ldflags="-s -w" -o /utvi ./cmd/utvi && \
    /utvi version --sbom > /utvi.cdx.json

FROM scratch
COPY --from=build /utvi /utvi.cdx.json /
USER 65532:65532
ENTRYPOINT ["/utvi"]

# The command alone, static, run by nobody in particular:
#   docker build -t utvi:1 .
#   docker run --rm -v "$PWD:/results" --user "$(id -u)" -w /results utvi:1 sweep run plan.json
#   docker run --rm -v "$PWD:/models:ro" -p 127.0.0.1:8080:8080 utvi:1 serve /models/price.utvi --http :8080
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /utvi ./cmd/utvi

FROM scratch
COPY --from=build /utvi /utvi
USER 65532:65532
ENTRYPOINT ["/utvi"]

#!/bin/sh
# Build all images for this machine's architecture: deploy/images.sh NAME TAG. With PUSH=1
# they are sent to the registry of NAME. ENGINE names the program (docker, podman, buildah).
set -eu
name=${1:?name the images, for example localhost/torres}
tag=${2:?name a tag, for example 0.1.0-amd64}
engine=${ENGINE:-docker}
cd "$(dirname "$0")/.."

for target in service worker backup; do
  "$engine" build --file deploy/Dockerfile --target "$target" --tag "$name-$target:$tag" .
  if [ "${PUSH:-}" = 1 ]; then "$engine" push "$name-$target:$tag"; fi
done

# An image for authors of bots: Python, and the wheel of the `torres` command with the
# compiled engine. docs/install.md says how to build it and how to use it.
FROM debian:bookworm-20260921-slim AS base
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/*

FROM base AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev python3-dev python3-venv \
 && rm -rf /var/lib/apt/lists/*
WORKDIR /srv/torres
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY engine engine
COPY torres torres
RUN python3 -m venv /opt/torres \
 && /opt/torres/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheel . \
 && ls /wheel/*-abi3-*.whl \
 && /opt/torres/bin/pip install --no-cache-dir --use-pep517 -c constraints.txt /wheel/*.whl

FROM base AS author
COPY --from=build /opt/torres /opt/torres
# Any user may run it, so that the files that it writes belong to the author.
ENV PATH=/opt/torres/bin:$PATH HOME=/tmp
WORKDIR /bot
ENTRYPOINT ["torres"]
CMD ["--help"]

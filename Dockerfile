# Recollect for a shared house: HTTP and MCP, with PostgreSQL beside it (compose.yaml). docs/service.md tells the rest.
#
# Two stages: what builds the wheel stays behind. Every dependency is checked against its hash in requirements/lock.txt.

FROM python:3.13-slim AS build

WORKDIR /src
COPY requirements/lock.txt requirements/lock.txt
RUN python -m venv /opt/recollect \
    && /opt/recollect/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/lock.txt
COPY pyproject.toml README.md LICENSE NOTICE ./
COPY src src
RUN /opt/recollect/bin/pip install --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --no-index .

FROM python:3.13-slim

# The user has a fixed number, so that a volume that was made once fits the next image.
RUN useradd --system --uid 10001 --user-group --home-dir /home/recollect --create-home recollect \
    && install --directory --owner=recollect --group=recollect --mode=0700 /data
COPY --from=build /opt/recollect /opt/recollect

ENV PATH=/opt/recollect/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RECOLLECT_HOME=/data \
    RECOLLECT_MODELS=/data/models
USER recollect
WORKDIR /data
VOLUME /data
EXPOSE 7717

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:7717/health', timeout=4).close()"]

# Inside a container everything else is "others"; who reaches it from outside is decided where the port is published.
CMD ["recollect", "serve", "--listen", "0.0.0.0:7717", "--public"]

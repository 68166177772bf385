# Palimpsest, built from its wheel. `docker run` starts everything in one container, with PostgreSQL
# and Redis in the volume; docker-compose.yml runs web, worker, scheduler and migrations apart.
# A build may pin the base by its digest: docs/operations.md.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS build
RUN python -m venv /opt/venv && python -m venv /opt/build
COPY requirements/runtime.txt requirements/release.txt /tmp/
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
    --require-hashes -r /tmp/runtime.txt \
    && /opt/build/bin/pip install --no-cache-dir --disable-pip-version-check \
    --require-hashes -r /tmp/release.txt
COPY . /src
RUN /opt/build/bin/python -m build --no-isolation --wheel --outdir /tmp/dist /src \
    && /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
    --no-deps --no-index /tmp/dist/*.whl

FROM ${PYTHON_IMAGE}
# There is no wheel with a Redis for this Python.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends redis-server \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --user-group --no-create-home palimpsest \
    && install -d -o palimpsest -g palimpsest /var/lib/palimpsest
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PALIMPSEST_HOME=/var/lib/palimpsest \
    STATIC_ROOT=/opt/static \
    HOST=0.0.0.0 \
    PORT=8000
COPY --from=build /opt/venv /opt/venv
# Production settings want a secret; this one signs nothing and stays in this step.
RUN PALIMPSEST_ENV=production DJANGO_SECRET_KEY=only-while-the-image-is-built \
    ALLOWED_HOSTS=localhost palimpsest manage collectstatic --noinput
USER palimpsest
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=90s CMD ["palimpsest", "healthcheck"]
CMD ["palimpsest", "serve"]

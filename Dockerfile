# The image of web, worker, beat and migrate. PostgreSQL and Redis are containers of their own.
# A build may pin it by its digest: docs/operations.md.
ARG PYTHON_IMAGE=python:3.13-slim
FROM ${PYTHON_IMAGE} AS build
RUN python -m venv /opt/venv
COPY requirements/runtime.txt /tmp/runtime.txt
RUN /opt/venv/bin/pip install --no-cache-dir --disable-pip-version-check \
    --require-hashes -r /tmp/runtime.txt

FROM ${PYTHON_IMAGE}
RUN useradd --system --uid 10001 --user-group --no-create-home palimpsest \
    && install -d -o palimpsest -g palimpsest /var/lib/palimpsest
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PALIMPSEST_ENV=production \
    PALIMPSEST_HOME=/var/lib/palimpsest \
    HOST=0.0.0.0 \
    PORT=8000
WORKDIR /app
COPY --from=build /opt/venv /opt/venv
COPY . .
# Production settings want a secret; this one signs nothing and stays in this step.
RUN DJANGO_SECRET_KEY=only-while-the-image-is-built ALLOWED_HOSTS=localhost \
    python manage.py collectstatic --noinput
USER palimpsest
EXPOSE 8000
CMD ["python", "-m", "config.web_server"]

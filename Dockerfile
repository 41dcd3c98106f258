# docker build -t agl1k . && docker run --rm -p 7860:7860 -v agl1k:/data agl1k
# With a read-only root, also: --read-only --tmpfs /tmp
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PIP_NO_CACHE_DIR=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PYTHONPATH=/app \
    AGL1K_DATA=/data \
    AGL1K_HOST=0.0.0.0 \
    PORT=7860

# 1000 is the user that Hugging Face runs containers as
RUN useradd --uid 1000 --create-home agl1k \
    && install --directory --owner=agl1k --group=agl1k /data

WORKDIR /app

# before the code, so that a code change does not reinstall them; `make lock` renews the versions
COPY requirements.lock ./
RUN pip install --require-hashes --requirement requirements.lock

# the command agl1k, in any folder
RUN printf '#!/bin/sh\nexec python -m agl1k_core "$@"\n' > /usr/local/bin/agl1k \
    && chmod 755 /usr/local/bin/agl1k

COPY LICENSE app.py ./
COPY agl1k_core agl1k_core
COPY store store
COPY web web
COPY ui ui
COPY game game
COPY leaderboard leaderboard
COPY assets assets

USER agl1k
VOLUME ["/data"]
EXPOSE 7860

# no proxy, whatever the environment says: the request is to this container itself
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.build_opener(r.ProxyHandler({})).open('http://127.0.0.1:' + os.environ['PORT'] + '/healthz', timeout=4)"]

# in exec form, SIGTERM reaches the server, which finishes its requests and closes the database
CMD ["python", "app.py"]

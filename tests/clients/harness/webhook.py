"""An admission webhook server on 127.0.0.1, with a certificate of its own authority."""

import base64
import http.server
import json
import pathlib
import ssl
import sys
import threading
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kubernetes"))
from cluster import make_certificate  # noqa: E402 (the line above is what makes it importable)


class QuietServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # Callers that hang up, or that do not trust the certificate, are part of the tests.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class WebhookServer:
    """Calls, for a path, the function that a test has put there, and keeps what was asked.

    The function takes the AdmissionReview's request and returns the response without its uid, or
    a whole document (bytes) to answer as it is. An HTTP status other than 200 is a number.
    """

    def __init__(self, directory):
        make_certificate(directory, "ca", "/CN=webhook-ca", "basicConstraints=critical,CA:TRUE")
        make_certificate(directory, "webhook", "/CN=webhook", "subjectAltName=IP:127.0.0.1",
                         signed=True)
        self.ca_bundle = base64.b64encode((directory / "ca.crt").read_bytes()).decode()
        self._handlers, self._reviews, self._lock = {}, {}, threading.Lock()
        self._server = QuietServer(("127.0.0.1", 0), self._handler_class())
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(directory / "webhook.crt", directory / "webhook.key")
        self._server.socket = tls.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path):
        return f"https://127.0.0.1:{self._server.server_port}{path}"

    def serve(self, path, function):
        with self._lock:
            self._handlers[path] = function
            self._reviews[path] = []

    def reviews(self, path):
        """The AdmissionReviews that came to `path` so far."""
        with self._lock:
            return list(self._reviews[path])

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    def answer(self, target, body):
        """(HTTP status, document) for a review posted to `target`."""
        path = urllib.parse.urlsplit(target)
        review = json.loads(body)
        with self._lock:
            function = self._handlers.get(path.path)
            if function:
                self._reviews[path.path].append({**review, "query": path.query})
        if not function:
            return 404, b"no such webhook"
        response = function(review["request"])
        if isinstance(response, int):
            return response, b"refused"
        if isinstance(response, bytes):
            return 200, response
        return 200, json.dumps({
            "apiVersion": review["apiVersion"], "kind": "AdmissionReview",
            "response": {"uid": review["request"]["uid"], **response}}).encode()

    def _handler_class(server):
        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, document = server.answer(self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(document)))
                self.end_headers()
                self.wfile.write(document)

            def log_message(self, *_):
                pass

        return Handler


def allow(**more):
    return {"allowed": True, **more}


def deny(message=None, **status):
    if message is not None:
        status["message"] = message
    return {"allowed": False, **({"status": status} if status else {})}


def patch(*operations):
    encoded = base64.b64encode(json.dumps(operations).encode()).decode()
    return allow(patchType="JSONPatch", patch=encoded)

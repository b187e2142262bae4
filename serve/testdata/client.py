"""Uses a server by the client that openapi-python-client made of serve/openapi.json (scripts/client): python client.py URL TOKEN.

It predicts, draws rows together, posts outcomes and reads the certificate, and fails where an answer isn't what it should be."""

import sys

from krigo_client import AuthenticatedClient, Client
from krigo_client.api.default import health, joint, model, models, outcomes, predict
from krigo_client.models import Answer, Error, Joint, Observed, Request, RequestRowsItemType0

url, token = sys.argv[1:]
assert health.sync(client=Client(base_url=url)).token is True
denied = models.sync_detailed(client=Client(base_url=url))
assert denied.status_code == 401 and isinstance(denied.parsed, Error), denied

client = AuthenticatedClient(base_url=url, token=token)
assert models.sync(client=client).models == ["line"]

description = model.sync(client=client, model="line")
certificate = description.certificate
assert certificate.valid and 0 < certificate.mean_bound < 1 and certificate.rows > 0, certificate
assert description.sentence.startswith("With ") and description.target == "y"
x = description.inputs[0]
assert x.name == "x" and x.low < x.mean < x.high, x
print("certificate:", description.sentence)


def rows(*values, **more):
    """By name and in their order, as programs write them."""
    return [RequestRowsItemType0.from_dict({"x": v, **more}) for v in values]


answer = predict.sync(client=client, body=Request(rows=rows(x.low, x.mean) + [[x.high + 1]]))
assert isinstance(answer, Answer), answer
assert [p.outside for p in answer.predictions] == [0, 0, 1]
assert all(p.lower95 < p.mean < p.upper95 for p in answer.predictions)
print("predicted:", [round(p.mean, 3) for p in answer.predictions])

together = joint.sync(client=client, body=Request(rows=rows(x.low, x.mean)), samples=5, seed=2**53, covariance=True)
assert isinstance(together, Joint), together
assert [len(s) for s in together.samples] == [5, 5]
assert together.covariance[0][1] == together.covariance[1][0]
assert abs(together.covariance[1][1] / together.predictions[1].latent_variance - 1) < 1e-6
assert [p.mean for p in together.predictions] == [p.mean for p in answer.predictions[:2]]

observed = outcomes.sync(client=client, body=Request(rows=rows(x.mean, y=answer.predictions[1].mean)))
assert isinstance(observed, Observed), observed
assert observed.rows == 1 and observed.watch.rows == 1 and observed.watch.misses == 0
assert observed.watch.alarm is None and model.sync(client=client).watch.rows == 1
print("outcomes:", observed.watch.rows)

refused = predict.sync_detailed(client=client, body=Request(rows=rows("n.d.")))
assert refused.status_code == 400 and "is not a number" in refused.parsed.error, refused

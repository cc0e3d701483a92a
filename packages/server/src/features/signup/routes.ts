import { health, oauth, signup } from '@skerry/contract/signup'
import { limited, open } from '../../http/access.ts'
import { route } from '../../http/route.ts'
import { live, ready } from './health.ts'
import { create } from './signup.ts'
import { issue } from './tokens.ts'

export const routes = [
  route(signup.create, limited('signup', open('creates the tenant that will hold credentials')), create),
  route(oauth.token, open('the body or the header carries the credential'), issue),
  route(health.live, open('liveness'), live),
  route(health.ready, open('readiness'), ready),
]

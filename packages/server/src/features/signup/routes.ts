import { health, oauth, signup } from '@skerry/contract/signup'
import { limited, open } from '../../http/access.ts'
import { on } from '../../http/route.ts'
import { live, ready } from './health.ts'
import { create } from './signup.ts'
import { issue } from './tokens.ts'

export const routes = [
  on(signup.create, limited('signup', open('creates the tenant that will hold credentials')), create),
  on(oauth.token, open('the body or the header carries the credential'), issue),
  on(health.live, open('liveness'), live),
  on(health.ready, open('readiness'), ready),
]

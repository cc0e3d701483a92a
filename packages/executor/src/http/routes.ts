import { identity, published } from '../connect/identity.ts'
import { callback, finish, start } from '../connect/oauth.ts'
import { providerFetch } from '../fetch/fetch.ts'
import { answer, type Route } from './server.ts'

/** Everything that an executor is asked for, with who may. */
export const routes: Readonly<Record<string, Route>> = {
  'GET /health': { access: 'anyone', handle: () => answer({ ok: true }) },
  'GET /connect/identity': { access: 'anyone', handle: published },
  'POST /connect/oauth/start': { access: 'page', handle: start },
  'GET /oauth/callback': { access: 'provider', handle: callback },
  'POST /connect/oauth/finish': { access: 'page', handle: finish },
  'GET /v1/identity': { access: 'backend', handle: identity },
  'POST /v1/fetch': { access: 'backend', handle: providerFetch },
}

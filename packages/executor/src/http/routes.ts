import { fill, open, reauth, release } from '../browser/calls.ts'
import { finishBrowser, startBrowser } from '../connect/browser.ts'
import { identity, published } from '../connect/identity.ts'
import { callback, finish, start } from '../connect/oauth.ts'
import { providerFetch } from '../fetch/fetch.ts'
import { reactivate } from '../fetch/reactivate.ts'
import { livePage } from '../live/page.ts'
import { answer, type Route } from './server.ts'

/** Every endpoint of the executor, with its access. */
export const routes: Readonly<Record<string, Route>> = {
  'GET /health': { access: 'anyone', handle: () => answer({ ok: true }) },
  'GET /connect/identity': { access: 'anyone', handle: published },
  'POST /connect/oauth/start': { access: 'page', handle: start },
  'GET /oauth/callback': { access: 'visitor', handle: callback },
  'POST /connect/oauth/finish': { access: 'page', handle: finish },
  'POST /connect/browser/start': { access: 'page', handle: startBrowser },
  'POST /connect/browser/finish': { access: 'page', handle: finishBrowser },
  'GET /live/': { access: 'visitor', handle: livePage('view.html') },
  'GET /live/view.js': { access: 'visitor', handle: livePage('view.js') },
  'GET /live/view.css': { access: 'visitor', handle: livePage('view.css') },
  'GET /v1/identity': { access: 'backend', handle: identity },
  'POST /v1/fetch': { access: 'backend', handle: providerFetch },
  'POST /v1/reactivate': { access: 'backend', handle: reactivate },
  'POST /v1/browser/open': { access: 'backend', handle: open },
  'POST /v1/browser/fill': { access: 'backend', handle: fill },
  'POST /v1/browser/release': { access: 'backend', handle: release },
  'POST /v1/browser/reauth': { access: 'backend', handle: reauth },
}

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Secret, TOTP } from 'otpauth'
import { afterAll } from 'vitest'

/** A person of the site, with their login. */
export const ada = { username: 'ada-planted-name', password: 'planted-password-8841', totpSecret: 'JBSWY3DPEHPK3PXP' }

/** A small site with a sign-in of two steps, a session cookie that no script reads, and a mark in local storage. */
export interface Site {
  origin: string
  host: string
  /** Every request: method and path. */
  got: string[]
  /** Cookies of signed-in sessions. */
  sessions: Set<string>
  /** Every cookie that the site has ever set. */
  issued: string[]
  /** Additional markup for the page of signed-in people. */
  more: string
}

const html = (body: string) => `<!doctype html><html><head><meta name="viewport" content="width=device-width">
<style>body{margin:0} input,button{position:absolute;left:20px;width:200px;height:40px}</style></head><body>${body}</body></html>`
const at = (top: number) => `style="top:${top}px"`

/** The positions of the fields, in pixels from the upper left corner of the page. */
export const fieldAt = { username: { x: 60, y: 40 } }

const shown = (name: string) => `<script>fetch('/shown/${name}')</script>`
const loginPage = html(`<form method="post" action="/login">
<input name="user" ${at(20)} autocomplete="username"><input name="pass" type="password" ${at(80)}><button ${at(140)}>Go on</button></form>${shown('login')}`)
const totpPage =
  html(`<form method="post" action="/totp"><input name="otp" ${at(20)} autocomplete="one-time-code" autofocus>
<button ${at(80)}>Sign in</button></form><script>document.querySelector('input').focus()</script>${shown('totp')}`)
const homePage = (more: string) =>
  html(`<h1>Welcome</h1><p id="mark"></p><script>document.querySelector('#mark').textContent = localStorage.mark ?? 'no mark'
localStorage.mark = 'planted-mark'</script>${more}${shown('home')}`)

/** @param now the clock by which its codes are valid */
export async function startSite(now: () => Date): Promise<Site> {
  const site: Site = { origin: '', host: '', got: [], sessions: new Set(), issued: [], more: '' }
  const half = new Set<string>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const form = new URLSearchParams(body)
    const { pathname } = new URL(request.url ?? '', site.origin)
    site.got.push(`${request.method} ${pathname}`)
    const session = /(?:^|; )sid=(\w+)/.exec(request.headers.cookie ?? '')?.[1] ?? ''
    const page = (text: string) => response.writeHead(200, { 'content-type': 'text/html' }).end(text)
    const go = (location: string, cookie?: string) =>
      response.writeHead(303, { location, ...(cookie ? { 'set-cookie': cookie } : {}) }).end()
    const begin = (where: Set<string>, location: string) => {
      const id = `planted${randomBytes(12).toString('hex')}`
      where.add(id)
      site.issued.push(id)
      go(location, `sid=${id}; Path=/; HttpOnly; SameSite=Lax; Max-Age=86400`)
    }
    const code = new TOTP({ secret: Secret.fromBase32(ada.totpSecret) })
    const answers: Record<string, () => unknown> = {
      'GET /': () => (site.sessions.has(session) ? page(homePage(site.more)) : go('/login')),
      'GET /login': () => page(loginPage),
      'POST /login': () =>
        form.get('user') === ada.username && form.get('pass') === ada.password ? begin(half, '/totp') : go('/login'),
      'GET /totp': () => page(totpPage),
      'POST /totp': () => {
        // Like other sites, it also accepts the code of the previous 30 seconds, because a person needs a moment to
        // type it.
        const drift = code.validate({ token: form.get('otp') ?? '', timestamp: now().getTime(), window: 1 })
        const isRight = half.has(session) && drift !== null
        return isRight ? begin(site.sessions, '/') : go('/login')
      },
    }
    const answer = answers[`${request.method} ${pathname}`]
    if (answer) answer()
    else response.writeHead(pathname.startsWith('/shown/') ? 204 : 404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  site.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  site.origin = `http://${site.host}`
  return site
}

/** The code that the person's app shows. */
export const codeOf = (now: Date) =>
  new TOTP({ secret: Secret.fromBase32(ada.totpSecret) }).generate({ timestamp: now.getTime() })

/** The profile of the site, as an operator writes it. */
export const profileOf = ({ origin, host }: Site, ...more: string[]) => ({
  ...{ id: 'shop', method: 'browser' as const, displayName: 'Corner Shop', consentSummary: 'Orders what you ask for.' },
  ...{
    startUrl: `${origin}/`,
    loginUrl: `${origin}/login`,
    signedOutUrlPrefixes: [`${origin}/login`, `${origin}/totp`],
  },
  domains: [host, ...more],
})

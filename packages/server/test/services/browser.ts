import { createHash, randomBytes } from 'node:crypto'
import { client, resource } from './provider.ts'

/** A minimal browser for sign-in pages: it stores cookies, follows redirects and submits the form on a page. */
export class Browser {
  readonly #cookies = new Map<string, string>()

  /** Follows redirects to a page, or to an address that begins with `stopAt`, which is returned but not opened. */
  async open(address: string, stopAt: string, init: RequestInit = {}): Promise<{ url: string; html: string }> {
    let url = address
    let request = init
    for (let hops = 0; hops < 20; hops++) {
      if (url.startsWith(stopAt)) return { url, html: '' }
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const response = await fetch(url, { ...request, redirect: 'manual', headers: { ...request.headers, cookie } })
      for (const line of response.headers.getSetCookie()) this.#keep(line)
      const location = response.headers.get('location')
      if (!location) return { url, html: await response.text() }
      url = new URL(location, url).href
      request = {}
    }
    throw new Error('redirected in a circle')
  }

  #keep(line: string): void {
    const [pair] = line.split(';')
    const mark = (pair as string).indexOf('=')
    this.#cookies.set((pair as string).slice(0, mark), (pair as string).slice(mark + 1))
  }

  /** Posts the form of a page with its hidden fields and those given. */
  submit(page: { url: string; html: string }, fields: Record<string, string>, stopAt: string) {
    const action = /<form[^>]* action="([^"]+)"/.exec(page.html)?.[1]
    if (!action) throw new Error(`no form at ${page.url}: ${page.html.slice(0, 500)}`)
    const hidden = [...page.html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)]
    const body = new URLSearchParams({
      ...Object.fromEntries(hidden.map(([, name, value]) => [name, value])),
      ...fields,
    })
    return this.open(new URL(action, page.url).href, stopAt, { method: 'POST', body })
  }
}

export interface Tokens {
  accessToken: string
  idToken: string
}

/** Signs a person in at a provider: authorization code with PKCE, through its sign-in and consent pages. */
export async function signInAt(provider: string, login: string): Promise<Tokens> {
  const verifier = randomBytes(32).toString('base64url')
  const browser = new Browser()
  const asked = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope: 'openid email profile secrets',
    resource,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state: 'state',
  })
  const signIn = await browser.open(`${provider}/auth?${asked}`, client.redirectUri)
  const consent = await browser.submit(signIn, { login, password: 'any' }, client.redirectUri)
  const back = await browser.submit(consent, {}, client.redirectUri)
  const code = new URL(back.url).searchParams.get('code')
  if (!code) throw new Error(`no code: ${back.url}`)
  const response = await fetch(`${provider}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: client.redirectUri,
      client_id: client.id,
      code_verifier: verifier,
      resource,
    }),
  })
  const body = (await response.json()) as { access_token?: string; id_token?: string }
  if (!body.access_token || !body.id_token) throw new Error(`no tokens: ${JSON.stringify(body)}`)
  return { accessToken: body.access_token, idToken: body.id_token }
}

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An OAuth provider on loopback with its own sign-in pages. It replaces the refresh token at each refresh. */
export interface OAuthProvider {
  url: string
  /** Requests to its token endpoint, by grant type. */
  grants: Record<string, number>
  /** Every access token and refresh token that it has issued. */
  issued: string[]
  /** Each token request waits for this before the provider handles it. */
  before: () => Promise<void>
  /** Whether an answer to a refresh is lost on its way, after the provider has replaced the token. */
  losesAnswer: () => boolean
  close(): Promise<void>
}

export const client = { id: 'executor', secret: 'secret-of-the-client' }

/** @param accessSeconds how long an access token is valid */
export async function startProvider(redirectUri: string, accessSeconds = 3600): Promise<OAuthProvider> {
  const { Provider } = await import('oidc-provider')
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/token')) await own.before()
    provider.callback()(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const own: OAuthProvider = {
    url,
    grants: {},
    issued: [],
    before: async () => {},
    losesAnswer: () => false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  const provider = new Provider(url, {
    cookies: { keys: ['a key for cookies of this suite'] },
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'client_secret_post',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    scopes: ['openid', 'offline_access', 'things'],
    rotateRefreshToken: true,
    pkce: { required: () => true },
    ttl: {
      AccessToken: accessSeconds,
      RefreshToken: 86_400,
      Grant: 86_400,
      Session: 86_400,
      Interaction: 3600,
      IdToken: 3600,
    },
    findAccount: async (_: unknown, sub: string) => ({
      accountId: sub,
      claims: async () => ({ sub, email: `${sub}@example.com` }),
    }),
    claims: { openid: ['sub', 'email'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: true }, introspection: { enabled: true } },
  })
  provider.on('grant.success', (context: unknown) => {
    const { oidc, res, body } = context as Granted
    const kind = oidc.params.grant_type
    own.issued.push(body.access_token, body.refresh_token)
    own.grants[kind] = (own.grants[kind] ?? 0) + 1
    if (kind === 'refresh_token' && own.losesAnswer()) res.destroy()
  })
  return own
}

interface Granted {
  oidc: { params: { grant_type: string } }
  body: { access_token: string; refresh_token: string }
  res: { destroy(): void }
}

/**
 * Does what a person's browser does at the provider: signs in, consents or refuses, and follows redirects -> the
 * address at which it ends.
 */
export async function signIn(authorizationUrl: string, { refuse = false, login = 'ada' } = {}): Promise<string> {
  const cookies = new Map<string, string>()
  const { origin } = new URL(authorizationUrl)
  const go = async (url: string, form?: Record<string, string>) => {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form ? { method: 'POST', body: new URLSearchParams(form) } : {}),
    })
    for (const one of response.headers.getSetCookie()) {
      const [name = '', value = ''] = one.split(';', 1)[0]!.split('=')
      cookies.set(name, value)
    }
    return response
  }
  let url = authorizationUrl
  for (let step = 0; step < 20 && url.startsWith(origin); step++) {
    const answer = await go(url)
    const location = answer.headers.get('location')
    if (location !== null) {
      url = new URL(location, origin).href
      continue
    }
    const page = await answer.text()
    const isLogin = page.includes('name="password"')
    if (refuse && !isLogin) {
      url = `${url}/abort`
      continue
    }
    const given = await go(url, isLogin ? { prompt: 'login', login, password: 'x' } : { prompt: 'consent' })
    url = new URL(given.headers.get('location') ?? '', origin).href
  }
  return url
}

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { Provider as OAuthServer } from 'oidc-provider'
import { listen } from './launch.ts'

/**
 * Plays two services that Skerry does not know: Weather with API keys, Calendar with OAuth and its own sign-in page.
 */
export async function startProvider(redirectUri: string) {
  const server = createServer()
  const listening = await listen(server, 0)
  const [apiKey, clientSecret] = ['weather', 'calendar'].map((name) => `${name}-${randomBytes(16).toString('hex')}`)
  const oauth = new OAuthServer(listening.url, oauthSettings(clientSecret as string, redirectUri))
  const pages = oauth.callback()
  server.on('request', async (request, response) => {
    const answer = (status: number, body: object) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body, null, 2))
    const { url, headers } = request
    if (url === '/v1/forecast') {
      if (headers['x-api-key'] !== apiKey) answer(401, { error: 'unknown key' })
      else answer(200, { place: 'Lisbon', forecast: 'sunny, 24 degrees' })
    } else if (url === '/v1/events') {
      const token = await oauth.AccessToken.find(headers.authorization?.replace('Bearer ', '') ?? '')
      if (!token) answer(401, { error: 'unknown token' })
      else answer(200, { account: token.accountId, today: ['10:00 Review', '13:00 Lunch with Grace'] })
    } else pages(request, response)
  })
  return { ...listening, server, apiKey: apiKey as string, clientSecret: clientSecret as string }
}

const oauthSettings = (clientSecret: string, redirectUri: string) => ({
  clients: [
    {
      client_id: 'planner',
      client_secret: clientSecret,
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'client_secret_post',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
  ],
  cookies: { keys: [randomBytes(16).toString('hex')] },
  ttl: { AccessToken: 3600, Grant: 86_400, IdToken: 3600, Interaction: 3600, RefreshToken: 86_400, Session: 3600 },
  findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) }),
  // The development pages let anybody sign in under any name.
  features: { devInteractions: { enabled: true } },
})

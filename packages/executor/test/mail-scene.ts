import { afterAll } from 'vitest'
import { client, type OAuthProvider, startProvider } from './provider.ts'
import { type Answer, backend, openScene, type Scene } from './scene.ts'
import { startUpstream, type Upstream } from './upstream.ts'

/** A registered executor to which people connect their mail, by OAuth. */
export interface MailScene {
  scene: Scene
  provider: OAuthProvider
  upstream: Upstream
  /** Sends a request of the backend, with the access token of this connection where its headers place it. */
  call: (connectionId: string, headers?: object) => Promise<Answer>
}

/**
 * @param accessSeconds how long an access token is valid
 * @param reach the server's address -> the address at which the executor reaches it
 */
export async function openMailScene(
  accessSeconds?: number,
  reach: (url: string) => Promise<string> = async (url) => url,
): Promise<MailScene> {
  const scene = await openScene()
  const upstream = await startUpstream()
  const provider = await startProvider(`${scene.origin}/oauth/callback`, accessSeconds)
  afterAll(() => provider.close())
  await scene.newSettings({
    connectUrl: `${scene.world.url}/connect`,
    allowNetworks: ['127.0.0.0/8'],
    providers: [
      {
        ...{ id: 'mail', method: 'oauth2', displayName: 'Mail', consentSummary: 'Reads your mail.' },
        ...{ issuer: provider.url, clientId: client.id, clientSecretEnv: 'MAIL_CLIENT_SECRET' },
        scopes: ['openid', 'offline_access', 'things'],
        scopeTexts: { things: 'Read your things' },
        authorizationParameters: { prompt: 'consent' },
        rules: [{ host: upstream.host }],
      },
    ],
  })
  await scene.command('register', '--server', await reach(scene.world.url), '--code', await scene.code())
  const sent = { method: 'POST', url: `${upstream.origin}/things`, body: '' }
  const placed = { authorization: 'Bearer {{skerry:ACCESS_TOKEN}}' }
  const call = (connectionId: string, headers: object = placed) =>
    backend(scene, '/v1/fetch', { userRef: 'user-1', connectionId, request: { ...sent, headers } })
  return { scene, provider, upstream, call }
}

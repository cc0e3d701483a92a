import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { SkerryError } from '@skerry/sdk/errors'
import type { Vault, VaultConnection } from '@skerry/sdk/vault'
import { listen } from './launch.ts'

/** The settings of the product's backend. They contain no credential of a person. */
export interface Settings {
  url: string
  vault: Vault
  providerUrl: string
}

/** A real product gets this from its own sign-in. */
const userRef = 'ada'

/** The path that the product requests from each provider. The executor adds the credential. */
const paths: Record<string, string> = { weather: '/v1/forecast', calendar: '/v1/events' }

/** The product: a page with today's weather and plans, and buttons that lead to the Connect page. */
export function startProduct(settings: Settings, port: number) {
  const server = createServer((request, response) => {
    answer(settings, request, response).catch((error: Error) => {
      console.error(`the product: ${error.message}`)
      response.writeHead(500).end('Something went wrong.')
    })
  })
  return listen(server, port)
}

async function answer(settings: Settings, { method, url = '/' }: IncomingMessage, response: ServerResponse) {
  if (method !== 'POST')
    return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(await page(settings))
  // The person's browser goes to the Connect page, and returns to the product afterwards.
  const link = url === '/manage' ? await manageLink(settings) : await connectLink(settings, url.slice(1))
  return response.writeHead(303, { location: link }).end()
}

const manageLink = async ({ vault, url: returnUrl }: Settings) => (await vault.manage({ userRef, returnUrl })).url

async function connectLink(settings: Settings, providerId: string): Promise<string> {
  const { vault, url: returnUrl } = settings
  const link = { userRef, providerId, returnUrl }
  const broken = (await connectionsOf(settings)).get(providerId)
  return (broken ? await vault.reconnect({ ...link, connectionId: broken.id }) : await vault.connect(link)).url
}

/** The person's latest connection at each provider, unless it was revoked. */
async function connectionsOf({ vault }: Settings): Promise<Map<string, VaultConnection>> {
  const { connections } = await vault.connections({ userRef })
  return new Map(connections.filter(({ status }) => status !== 'revoked').map((one) => [one.providerId, one]))
}

async function page(settings: Settings): Promise<string> {
  const connections = await connectionsOf(settings)
  const sections = await Promise.all(Object.keys(paths).map((id) => section(settings, id, connections.get(id))))
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Planner</title>
<style>body { font: 1rem/1.5 system-ui; max-width: 36rem; margin: 2rem auto; padding: 0 1rem }</style>
<h1>Planner</h1>${sections.join('')}<hr>${button('manage', 'Your connected accounts')}</html>`
}

async function section(settings: Settings, id: string, connection?: VaultConnection): Promise<string> {
  if (connection?.status !== 'active')
    return `<h2>${id}</h2>${button(id, `${connection ? 'Reconnect' : 'Connect'} ${id}`)}`
  return `<h2>${id}</h2><pre>${escaped(await ask(settings, connection))}</pre>`
}

const button = (action: string, text: string) =>
  `<form method="post" action="/${action}"><button>${text}</button></form>`

/** Calls a provider for the product, through the executor -> the provider's answer, or why the executor refused. */
async function ask({ vault, providerUrl }: Settings, connection: VaultConnection): Promise<string> {
  const request = { method: 'GET', url: `${providerUrl}${paths[connection.providerId]}` }
  try {
    const response = await vault.fetch({ userRef, connectionId: connection.id, request })
    return await response.text()
  } catch (error) {
    if (error instanceof SkerryError) return `${error.code}: ${error.message}`
    throw error
  }
}

const escaped = (text: string) => text.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`)

import { vaultPlatform } from '@skerry/contract/vault/platform'
import { vaultProjects } from '@skerry/contract/vault/projects'
import { afterAll } from 'vitest'
import { storedText, type Visitor, visit } from '../../dashboard/test/browser.ts'
import { axeProblems } from '../../dashboard/test/org-steps.ts'
import { isQuick } from '../../server/test/extent.ts'
import { findings, needle } from '../../server/test/needles.ts'
import { openTenant } from '../../server/test/scene.ts'
import { tableDump } from '../../server/test/state.ts'
import { newMember } from '../../server/test/tenant.ts'
import { newCode, newPlatformKey, sent } from '../../server/test/vault-scene.ts'
import type { World } from '../../server/test/world.ts'
import { startExecutor, type TestExecutor } from './executor.ts'

const phone = { width: 390, height: 844 }

const consent = { consentVersion: 1 }
const catalog = {
  providers: [
    {
      ...{ id: 'acme', displayName: 'Acme Mail', method: 'api_key', slots: ['api_key'], ...consent },
      ...{ consentSummary: 'Reads your inbox and drafts answers.', keyLabel: 'Secret key' },
      helpUrl: 'https://acme.example/keys',
    },
    {
      ...{ id: 'calendar', displayName: 'Calendar', method: 'oauth2', slots: ['oauth2'], ...consent },
      ...{ consentSummary: 'Reads when you are busy.', scopes: ['calendar.read', 'profile'] },
    },
    {
      ...{ id: 'shop', displayName: 'Corner Shop', method: 'browser', slots: ['login', 'session'], ...consent },
      ...{ consentSummary: 'Orders what you ask for.', loginUrl: 'https://shop.example/login' },
    },
  ],
}

export const returnUrl = 'https://app.example.com/settings'

/** A server, a product with an executor, and people who open its links on a phone. */
export interface Scene {
  world: World
  executor: TestExecutor
  projectId: string
  platformAs: string
  /** A link as the product’s backend makes it. */
  link: (more?: object) => Promise<Link>
  manageLink: () => Promise<string>
  arrive: () => Promise<Visitor>
}

interface Link {
  path: string
  id: string
  token: string
  connectionId: string
}

export async function openScene(): Promise<Scene> {
  const { world, tenant } = await openTenant()
  const person = await newMember(world, tenant, 'admin')
  const executor = await startExecutor(world)
  const display = { name: 'Northwind', accent: '#0b6b5d', returnOrigins: [new URL(returnUrl).origin] }
  const params = { orgId: tenant.orgId }
  const made = await sent(world, vaultProjects.create, { as: tenant.admin.as, params, body: { name: 'N', display } })
  const projectId = made.project.id
  await executor.register(await newCode(world, tenant, projectId, person), catalog)
  const { as } = await newPlatformKey(world, tenant, projectId, person)
  const visitors: Visitor[] = []
  afterAll(async () => {
    await Promise.all(visitors.map((visitor) => visitor.close()))
    await executor.close()
  })
  const { origin, thumbprint } = executor
  return {
    world,
    executor,
    projectId,
    platformAs: as,
    async link(more = {}) {
      const body = { userRef: 'user-1', providerId: 'acme', returnUrl, ...more }
      const { id, token, connectionId } = (await sent(world, vaultPlatform.createSession, { as, body })).session
      const path = `/connect/#t=${token}&x=${encodeURIComponent(origin)}&k=${thumbprint}`
      return { path, id, token, connectionId }
    },
    async manageLink() {
      const body = { userRef: 'user-1', returnUrl }
      const { token } = (await sent(world, vaultPlatform.createManageSession, { as, body })).session
      return `/connect/#t=${token}&x=${encodeURIComponent(origin)}&k=${thumbprint}`
    },
    async arrive() {
      const visitor = await visit(world.url)
      visitors.push(visitor)
      await visitor.page.setViewportSize(phone)
      await visitor.context.route(`${returnUrl}**`, (route) => route.fulfill({ body: 'Back at Northwind' }))
      return visitor
    },
  }
}

/** Waits for a screen by its heading, which has the focus. */
export async function screen({ page }: Pick<Visitor, 'page'>, heading: string): Promise<void> {
  await page.getByRole('heading', { name: heading, exact: true, level: 1 }).waitFor()
}

export const press = ({ page }: Pick<Visitor, 'page'>, name: string) =>
  page.getByRole('button', { name, exact: true }).click()

/** Lists the serious problems that axe finds in both colour schemes. The quick run checks one scheme. */
export async function axeInBoth({ page }: Visitor): Promise<string[]> {
  const found: string[] = []
  for (const colorScheme of isQuick ? (['light'] as const) : (['light', 'dark'] as const)) {
    await page.emulateMedia({ colorScheme })
    for (const problem of await axeProblems(page)) found.push(`in ${colorScheme}: ${problem}`)
  }
  await page.emulateMedia({ colorScheme: 'light' })
  return found
}

/** Lists the places that contain a planted credential, which may be nowhere but on the page. */
export async function leaksOf({ world, executor }: Scene, visitor: Visitor, secret: string): Promise<string[]> {
  const places = [
    ...(await tableDump(world)),
    { where: 'the log', text: world.log.join('') },
    ...world.answers.map((text) => ({ where: 'an answer', text })),
    ...executor.received.map((text) => ({ where: 'a request to the executor', text })),
    ...visitor.sent.map((text) => ({ where: 'a request', text })),
    ...(await storedText(visitor)).map((text) => ({ where: 'what the browser keeps', text })),
  ]
  return findings([needle('the credential', secret)], places)
}

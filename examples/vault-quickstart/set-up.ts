import { createClient } from '@skerry/sdk/client'

/**
 * Does what an admin does once, here with the SDK and usually in the dashboard. It creates the organization, a vault
 * project for the product, a key for the product's backend, and a code with which an executor registers.
 */
export async function setUp(baseUrl: string, setUpToken: string, productUrl: string) {
  const owner = { email: 'you@example.com', name: 'You', orgName: 'Planner Inc.', orgSlug: 'planner' }
  const { session } = await createClient({ baseUrl }).signIn.setUp({ body: { token: setUpToken, ...owner } })

  const admin = createClient({ baseUrl, credential: { bearer: session.token } })
  const { orgs } = await admin.me.get()
  const orgId = orgs[0]!.id
  // The Connect page shows this name, and sends people back only to this origin.
  const display = { name: 'Planner', returnOrigins: [productUrl] }
  const { project } = await admin.vaultProjects.create({ params: { orgId }, body: { name: 'Planner', display } })
  const params = { orgId, projectId: project.id }
  const { secret: platformKey } = await admin.vaultProjects.createKey({ params, body: { name: 'backend' } })
  const { code: registrationCode } = await admin.vaultProjects.createRegistrationCode({ params })
  return { platformKey, registrationCode }
}

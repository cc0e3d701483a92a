import type { Environment } from '@skerry/sdk/environments'
import type { App } from './places.ts'
import { askChoice } from './prompt.ts'
import type { Org, Session } from './session.ts'

// The questions of `init` and `setup` about the organization, application and environment of a folder.

export async function listApps(session: Session): Promise<readonly App[]> {
  const { id: orgId } = await session.org()
  return (await session.client.apps.list({ params: { orgId } })).apps
}

export const listEnvironments = async (session: Session, { orgId, id: appId }: App) =>
  (await session.client.apps.envs({ params: { orgId, appId } })).environments

export const askOrg = (orgs: readonly (Org & { name: string })[]): Promise<string> =>
  askChoice(
    'Which organization is this folder of?',
    orgs.map(({ slug, name }) => ({ value: slug, hint: name })),
    orgs[0]!.slug,
  )

/** Asks for one of the applications. `offered` is a slug that may be chosen even if no application has it yet. */
export function askApp({ slug: org }: Org, apps: readonly App[], offered?: string): Promise<string> {
  const choices = apps.map(({ slug, name }) => ({ value: slug, hint: name }))
  const isNew = offered !== undefined && !apps.some(({ slug }) => slug === offered)
  if (isNew) choices.push({ value: offered, hint: 'new' })
  return askChoice(`Which application of ${org} is this folder?`, choices, offered ?? apps[0]!.slug)
}

export function askEnvironment(environments: readonly (Environment & { canDecrypt?: boolean })[]): Promise<string> {
  const choices = environments.map(({ slug, name, canDecrypt }) => ({
    value: slug,
    hint: canDecrypt ? name : `${name}; you hold no key`,
  }))
  const usual = environments.find(({ slug }) => slug === 'development') ?? environments[0]!
  return askChoice('Which environment do you work with here?', choices, usual.slug)
}

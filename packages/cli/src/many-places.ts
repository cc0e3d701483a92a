import { isProduction } from '@skerry/contract/envs/production'
import type { Command } from 'commander'
import { findNamed } from './current-place.ts'
import { Failure, usage } from './failure.ts'
import { gather } from './options.ts'
import { checkNames, findApp, isWholeName } from './places.ts'
import type { Session } from './session.ts'
import type { Flags } from './settings.ts'

/** The options that name environments of whole applications. */
export interface Places {
  app?: string[]
  env?: string[]
  allButProduction?: boolean
}

export const wholeApps = (command: Command): Command =>
  command
    .option('--app <slug>', 'every environment of this application; repeatable', gather)
    .option('--env <slug>', 'with --app, only environments with this slug; or app/env, group:env; repeatable', gather)
    .option('--all-but-production', 'with --app, every environment but production')

/** Refuses options that need `--app`, and options that exclude each other. */
export function checkApps({ app, env, allButProduction }: Places): void {
  if (env?.some((one) => !isWholeName(one)) && app === undefined)
    throw usage('--env needs --app', 'add --app, or write app/env or group:env')
  if (allButProduction && app === undefined)
    throw usage('--all-but-production needs --app', 'name the applications with --app')
  if (allButProduction && env !== undefined) throw usage('--env and --all-but-production exclude each other', 'use one')
}

/** Finds the named environments, and those of the named applications. Each name is compared with what it meant before. */
export async function findPlaces(session: Session, named: readonly string[], flags: Flags & Places) {
  const { app = [], env: given, allButProduction, ...others } = flags
  const slugs = given?.filter((one) => !isWholeName(one))
  const env = slugs?.length === 0 ? undefined : slugs
  const whole = [...named, ...(given ?? []).filter(isWholeName)]
  const found = (await Promise.all(whole.map((name) => findNamed(session, name, others)))).map(({ envId, label }) => ({
    envId,
    label,
  }))
  const { id: orgId } = await session.org()
  for (const wanted of app) {
    const { id: appId, slug } = await findApp(session, wanted)
    const { environments } = await session.client.apps.envs({ params: { orgId, appId } })
    const isChosen = ({ slug: found }: { slug: string }) =>
      (env === undefined || env.includes(found)) && !(allButProduction && isProduction(found))
    const chosen = environments.filter(isChosen)
    const missing = (env ?? []).find((one) => !environments.some(({ slug: there }) => there === one))
    if (missing !== undefined)
      throw new Failure('notFound', `there is no environment ${slug}/${missing}`, `see \`skerry env ls --app ${slug}\``)
    found.push(...chosen.map((one) => ({ envId: one.id, label: `${slug}/${one.slug}` })))
  }
  await checkNames(session, orgId, found)
  return [...new Map(found.map((one) => [one.envId, one])).values()]
}

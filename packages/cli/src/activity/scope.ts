import { boundHere } from '../current-place.ts'
import { findApp, findPlace, namedPlace, usualApp } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'

/** The environment or the application whose activity is shown. */
export interface Scope {
  orgId: string
  /** `shop/production`, or `shop` for an application. */
  label: string
  /** The application; undefined for one environment. */
  appId: string | undefined
  /** Its environments, and whether this credential is known to be able to decrypt them. */
  environments: { envId: string; label: string; canDecrypt: boolean }[]
  /** The labels of the environments by their ids. */
  labels: ReadonlyMap<string, string>
}

/** Without `--env`, `--app` means the whole application, also where `skerry.json` names an environment. */
export async function findScope(session: Session, flags: Flags): Promise<Scope> {
  const name = namedPlace(session, flags)
  const bound = await boundHere(session, flags, name.branch)
  const isWhole = flags.app !== undefined && flags.env === undefined && !process.env.SKERRY_ENV
  if (isWhole || (!bound && session.settings.app !== undefined && name.env === undefined))
    return applicationScope(session, await usualApp(session))
  const { orgId, envId, label } = bound ?? (await findPlace(session, name))
  return scopeOf({ orgId, label, appId: undefined }, [{ envId, label, canDecrypt: true }])
}

async function applicationScope(session: Session, slug: string | undefined): Promise<Scope> {
  const app = await findApp(session, slug)
  const params = { orgId: app.orgId, appId: app.id }
  const [{ environments }, { branches }] = await Promise.all([
    session.client.apps.envs({ params }),
    session.client.apps.branches({ params }),
  ])
  const labels = new Map(environments.map((one) => [one.id, `${app.slug}/${one.slug}`]))
  return scopeOf({ orgId: app.orgId, label: app.slug, appId: app.id }, [
    ...environments.map(({ id, canDecrypt }) => ({ envId: id, label: labels.get(id)!, canDecrypt })),
    // The server does not say whether this credential can decrypt a branch.
    ...branches.map(({ id, slug: branch, parentEnvironmentId }) => ({
      envId: id,
      label: `${labels.get(parentEnvironmentId ?? '')}@${branch}`,
      canDecrypt: false,
    })),
  ])
}

const scopeOf = (of: Pick<Scope, 'orgId' | 'label' | 'appId'>, environments: Scope['environments']): Scope => ({
  ...of,
  environments,
  labels: new Map(environments.map(({ envId, label }) => [envId, label])),
})

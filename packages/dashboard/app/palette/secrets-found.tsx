import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { appQuery, appsQuery, sealedQuery } from '../secrets/queries.ts'
import { IconKey } from '../ui/icons.ts'
import { type Org, thing } from './things.tsx'

/** Names come with their ciphertext, so they load only for a search, from at most this many environments. */
const environmentsMax = 40
const typedMin = 2

/** Names are looked up again after a minute at the earliest. A pause in typing loads nothing. */
const staleTime = 60_000

type App = { id: string; name: string; slug: string }

/** Returns the secrets that this person can read, once for each application, as soon as enough is typed. */
export function useSecretsFound(org: Org | undefined, typed: string) {
  const navigate = useNavigate()
  const enabled = org !== undefined && typed.length >= typedMin
  const orgId = org?.id ?? ''
  const apps = useQuery({ ...appsQuery(orgId), enabled, staleTime }).data?.apps ?? []
  const details = useQueries({ queries: apps.map(({ id }) => ({ ...appQuery(orgId, id), enabled, staleTime })) })
  const readable = details
    .flatMap(({ data }, i) => readableOf(apps[i], data?.environments ?? []))
    .slice(0, environmentsMax)
  const sealed = useQueries({
    queries: readable.map(({ id }) => ({ ...sealedQuery(orgId, id), enabled, staleTime })),
  })
  const named = new Map<string, { name: string; app: App }>()
  for (const [i, { app }] of readable.entries())
    for (const name of sealed[i]?.data?.secrets.keys() ?? []) named.set(`${app.id} ${name}`, { name, app })
  const found = [...named].map(([id, { name, app }]) =>
    thing({ id, label: name, description: app.name }, IconKey, () =>
      navigate({
        to: '/orgs/$org/apps/$app',
        params: { org: org?.slug ?? '', app: app.slug },
        search: { secret: name },
      }),
    ),
  )
  return { found, isLoading: [...details, ...sealed].some((query) => query.isLoading) }
}

const readableOf = (app: App | undefined, environments: { id: string; canDecrypt: boolean }[]) =>
  app ? environments.filter(({ canDecrypt }) => canDecrypt).map(({ id }) => ({ id, app })) : []

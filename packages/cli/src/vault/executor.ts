import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { shownTime } from '../times.ts'
import type { AtProject, InProject } from './find.ts'

/**
 * Opens the page where a person makes a registration code. It needs a browser and a second factor that was just
 * entered.
 */
export async function registerCode({ session, flags, place }: AtProject<InProject & BrowserOptions>): Promise<Output> {
  const next =
    'create the code in the dashboard: it needs a browser and your second factor, if you have one, and is valid for 10 minutes'
  return showPage(session, `/vault/${place.projectId}`, { ...flags, next })
}

export async function show({ session, place, project }: AtProject): Promise<Output> {
  const { executor } = await session.client.vaultProjects.executor({ params: place })
  return {
    json: { executor },
    text: () => {
      if (!executor) return writeLine(`${project.name} has no active executor`)
      const { origin, sdkVersion, lastSeenAt, keys, catalog, id } = executor
      writeTable(
        ['what', 'value'],
        [
          ['id', id],
          ['origin', origin],
          ['runs', sdkVersion],
          ['last seen', shownTime(lastSeenAt)],
          ...keys.map(({ thumbprint, current }) => [current ? 'current key' : 'earlier key', thumbprint]),
          ['providers', catalog.providers.map((provider) => provider.id).join(', ')],
        ],
      )
    },
  }
}

export async function disable({
  session,
  flags,
  place,
  project,
}: AtProject<InProject & { yes?: boolean }>): Promise<Output> {
  await confirmOrRefuse(
    `disables the executor of ${project.name}, so nothing can read its credentials until another one registers`,
    flags,
  )
  const { executor } = await session.client.vaultProjects.disableExecutor({ params: place })
  return { json: { executor }, after: () => note(`disabled the executor at ${executor.origin}`) }
}

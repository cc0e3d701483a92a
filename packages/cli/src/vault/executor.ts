import { type BrowserOptions, showPage } from '../dashboard-page.ts'
import { note, writeJson, writeLine, writeTable } from '../output.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { openSession } from '../session.ts'
import { type InProject, projectOf } from './find.ts'

/** A code is minted by a person at a browser, who has just entered a second factor. */
export async function registerCode(flags: InProject & BrowserOptions): Promise<void> {
  const session = await openSession(flags)
  const { place } = await projectOf(session, flags)
  await showPage(session, `/vault/${place.projectId}`, flags)
  note('make the code there: it needs a browser and your second factor, and is good for ten minutes')
}

export async function show(flags: InProject): Promise<void> {
  const session = await openSession(flags)
  const { place, project } = await projectOf(session, flags)
  const { executor } = await session.client.vaultProjects.executor({ params: place })
  if (flags.json) return writeJson({ executor })
  if (!executor) return writeLine(`${project.name} has no active executor`)
  const { origin, sdkVersion, lastSeenAt, keys, catalog, id } = executor
  writeTable(
    ['what', 'value'],
    [
      ['id', id],
      ['origin', origin],
      ['runs', sdkVersion],
      ['last seen', lastSeenAt ?? 'never'],
      ...keys.map(({ thumbprint, current }) => [current ? 'current key' : 'earlier key', thumbprint]),
      ['providers', catalog.providers.map((provider) => provider.id).join(', ')],
    ],
  )
}

export async function disable(flags: InProject & { yes?: boolean }): Promise<void> {
  const session = await openSession(flags)
  const { place, project } = await projectOf(session, flags)
  await confirmOrRefuse(`disables the executor of ${project.name}, after which nobody can read its credentials`, flags)
  const { executor } = await session.client.vaultProjects.disableExecutor({ params: place })
  if (flags.json) writeJson({ executor })
  note(`disabled the executor at ${executor.origin}`)
}

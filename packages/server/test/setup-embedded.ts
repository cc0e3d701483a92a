import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepare } from './prepare.ts'

/** Makes one migrated data directory that every world of the run copies, because creating one takes seconds. */
export async function setup(project: TestProject) {
  const templateDir = await mkdtemp(join(tmpdir(), 'skerry-template-'))
  await prepare({ SKERRY_DATA_DIR: templateDir })
  project.provide('engine', 'embedded')
  project.provide('signIn', 'issuer')
  project.provide('templateDir', templateDir)
  project.provide('postgresUrl', '')
  return () => rm(templateDir, { recursive: true, force: true })
}

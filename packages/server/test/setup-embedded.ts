import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { prepare } from './prepare.ts'
import { openScratch } from './scratch.ts'

/** Makes one migrated data directory that every world of the run copies, because creating one takes seconds. */
export async function setup(project: TestProject) {
  const scratch = await openScratch()
  const templateDir = join(scratch, 'template')
  await prepare({ SKERRY_DATA_DIR: templateDir })
  project.provide('engine', 'embedded')
  project.provide('signIn', 'issuer')
  project.provide('scratch', scratch)
  project.provide('templateDir', templateDir)
  project.provide('postgresUrl', '')
  return () => rm(scratch, { recursive: true, force: true })
}

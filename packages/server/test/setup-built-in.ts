import type { TestProject } from 'vitest/node'
import { setup as setupEmbedded } from './setup-embedded.ts'

export async function setup(project: TestProject) {
  const teardown = await setupEmbedded(project)
  project.provide('signIn', 'built_in')
  return teardown
}

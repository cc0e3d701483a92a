import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findGitBranch, whyNoBranch } from '../src/git-branch.ts'

const root = mkdtempSync(join(tmpdir(), 'skerry-git-'))
afterAll(() => rmSync(root, { recursive: true }))

/** Makes a folder with these files, and returns its path. */
function folderWith(name: string, files: Record<string, string>): string {
  const folder = join(root, name)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const detached = `${'a1'.repeat(20)}\n`

describe('the slug of a git branch', () => {
  it.each([
    ['main', 'main'],
    ['Feature/Log_In', 'feature-log-in'],
    ['feature/log-in', 'feature-log-in'],
    ['--dependabot/npm_and_yarn/@types/node-24.1.0', 'dependabot-npm-and-yarn-types-node-24-1-0'],
    ['größe', 'gro-e'],
    [`${'x'.repeat(62)}/y`, 'x'.repeat(62)],
    ['y'.repeat(100), 'y'.repeat(63)],
    ['日本', undefined],
  ])('of %s is %s', (name, slug) => {
    const folder = folderWith('slug', { '.git/HEAD': `ref: refs/heads/${name}\n` })
    expect(findGitBranch(folder, {})).toEqual({ name, slug })
  })
})

describe('the git branch', () => {
  it('is read from HEAD of the repository around the folder', () => {
    const folder = folderWith('plain', { '.git/HEAD': 'ref: refs/heads/Fix/One\n', 'a/b/file': '' })
    expect(findGitBranch(join(folder, 'a/b'), {})).toEqual({ name: 'Fix/One', slug: 'fix-one' })
  })

  it('is the one of the linked worktree or the submodule', () => {
    const main = folderWith('main', {
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/worktrees/tree/HEAD': 'ref: refs/heads/in-tree\n',
    })
    const tree = folderWith('tree', { '.git': `gitdir: ${join(main, '.git/worktrees/tree')}\n` })
    expect(findGitBranch(tree, {}).name).toBe('in-tree')
    const submodule = folderWith('main/sub', { '.git': 'gitdir: ../.git/worktrees/tree\n' })
    expect(findGitBranch(submodule, {}).name).toBe('in-tree')
  })

  it.each([
    [
      'GitHub, a pull request',
      { GITHUB_HEAD_REF: 'fix', GITHUB_REF_NAME: '7/merge', GITHUB_REF_TYPE: 'branch' },
      'fix',
    ],
    ['GitHub, a push', { GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' }, 'main'],
    ['GitHub, a tag', { GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' }, undefined],
    ['GitLab', { CI_COMMIT_REF_NAME: 'fix' }, 'fix'],
    ['GitLab, a tag', { CI_COMMIT_REF_NAME: 'v1', CI_COMMIT_TAG: 'v1' }, undefined],
    ['Vercel', { VERCEL_GIT_COMMIT_REF: 'fix/x' }, 'fix/x'],
    ['Buildkite', { BUILDKITE_BRANCH: 'fix', BUILDKITE_TAG: '' }, 'fix'],
    ['Azure Pipelines', { BUILD_SOURCEBRANCH: 'refs/heads/fix/x' }, 'fix/x'],
    ['Azure Pipelines, a tag', { BUILD_SOURCEBRANCH: 'refs/tags/v1' }, undefined],
    ['Jenkins', { GIT_BRANCH: 'origin/fix' }, 'fix'],
    ['nothing', {}, undefined],
  ])('of a detached commit is the one that CI names: %s', (_, variables, name) => {
    const folder = folderWith('detached', { '.git/HEAD': detached })
    expect(findGitBranch(folder, variables).name).toBe(name)
  })

  it('of a repository wins over CI, and is not guessed from a file that is none', () => {
    const folder = folderWith('both', { '.git/HEAD': 'ref: refs/heads/own\n' })
    expect(findGitBranch(folder, { GITHUB_REF_NAME: 'other' }).name).toBe('own')
    const reftable = folderWith('reftable', { '.git/HEAD': 'ref: refs/heads/.invalid\n' })
    const broken = folderWith('broken', { '.git': 'not git' })
    const missing = folderWith('missing', { '.git': 'gitdir: nowhere\n' })
    for (const one of [reftable, broken, missing])
      expect(findGitBranch(one, {})).toEqual({ name: undefined, slug: undefined })
  })

  it('is explained where it names no branch', () => {
    expect(whyNoBranch({ name: undefined, slug: undefined })).toContain('no git branch is checked out here')
    expect(whyNoBranch({ name: '日本', slug: undefined })).toContain('the git branch 日本 has no letter or digit')
  })
})

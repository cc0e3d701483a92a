import { expect, test } from 'vitest'
import { nextVersion } from './next-version.ts'

const files = {
  'packages/cli/package.json':
    '{\n  "version": "0.1.0",\n  "dependencies": {\n    "@skerry/sdk": "0.1.0",\n    "yaml": "0.1.0"\n  }\n}\n',
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0, 2026-11-01\n\n- First.\n',
  'deploy/kubernetes/kustomization.yaml': 'newTag: 0.1.0\n',
}
const day = new Date('2026-11-28T23:59:00Z')

test('a release has its version in each package and each file that installs it, and in the changelog', () => {
  const after = nextVersion(files, '0.2.0', day)
  expect(JSON.parse(after['packages/cli/package.json'] ?? '')).toEqual({
    version: '0.2.0',
    // Another project may have a release of the same version.
    dependencies: { '@skerry/sdk': '0.2.0', yaml: '0.1.0' },
  })
  expect(after['CHANGELOG.md']).toBe(
    '# Changelog\n\n## Unreleased\n\n## 0.2.0, 2026-11-28\n\n- New.\n\n## 0.1.0, 2026-11-01\n\n- First.\n',
  )
  expect(after['deploy/kubernetes/kustomization.yaml']).toBe('newTag: 0.2.0\n')
})

test.each([
  ['v0.2.0', 'must have the form 1.2.3'],
  ['', 'must have the form 1.2.3'],
  ['0.1.0', '0.1.0 is not newer than 0.1.0'],
  ['0.0.9', '0.0.9 is not newer than 0.1.0'],
])('the version %j is refused', (version, reason) => {
  expect(() => nextVersion(files, version, day)).toThrow(reason)
})

test('0.10.0 is newer than 0.9.0', () => {
  const nine = nextVersion(files, '0.9.0', day)
  const news = { ...nine, 'CHANGELOG.md': files['CHANGELOG.md'] }
  expect(nextVersion(news, '0.10.0', day)['deploy/kubernetes/kustomization.yaml']).toBe('newTag: 0.10.0\n')
})

test('a release in which nothing is new is refused', () => {
  const after = nextVersion(files, '0.2.0', day)
  expect(() => nextVersion(after, '0.3.0', day)).toThrow('CHANGELOG.md has nothing below "Unreleased"')
})

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { vendors } from '../packages/contract/src/vendors.ts'
import { settings } from '../packages/server/src/settings.ts'
import { root } from './generate.ts'

// People read the names of vendors. A provider tag is in no text for people, except in the one table of tags. The
// sources of the clients hold no tag at all: they take them from the contract.

const texts = globSync(
  [
    '*.md',
    '{docs,examples}/**/*.md',
    'packages/*/README.md',
    'packages/{cli,connect,dashboard}/{src,app}/**/*.{ts,tsx,js}',
    'packages/cli/test/transcripts/*.txt',
  ],
  { cwd: root, exclude: (path) => path.includes('node_modules') || path.endsWith('.test.ts') },
)

const tags = Object.entries(vendors).flatMap(([tag, { slug }]) => (tag === slug ? [] : [tag]))
const bareTag = new RegExp(`(?<![\\w-])(?:${tags.join('|')})(?![\\w-])`, 'g')
const tableOfTags = /<!-- The table of tags [\s\S]*?<!-- End of the table. -->/

/** Declarations of the SDK show the values that a program compares. */
const declarations = /^```typescript\n[\s\S]*?^```$/gm

const tagsIn = (text: string) => text.replace(tableOfTags, '').replace(declarations, '').match(bareTag) ?? []

describe('texts for people name vendors and no tags', () => {
  it('the search finds a tag, and not a slug, a longer word or the table', () => {
    expect(tagsIn('`cloud-a` and "app-platform-c".')).toEqual(['cloud-a', 'app-platform-c'])
    expect(tagsIn("```typescript\ntype A = 'cloud-a'\n```\ncloud-b")).toEqual(['cloud-b'])
    expect(
      tagsIn('aws, cloud-aware, multi-cloud-a, <!-- The table of tags --> cloud-a <!-- End of the table. -->'),
    ).toEqual([])
  })

  it('in documents, in the sources of clients and in transcripts', () => {
    expect(texts.length).toBeGreaterThan(500)
    const found = texts.flatMap((file) =>
      tagsIn(readFileSync(join(root, file), 'utf8')).map((tag) => `${file}: ${tag}`),
    )
    expect(found).toEqual([])
  })

  it('in the help of settings', () => {
    expect(Object.values(settings).flatMap(({ help }) => tagsIn(help))).toEqual([])
  })
})

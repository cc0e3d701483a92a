import { expect, test } from 'vitest'
import { referenceFiles } from './reference.ts'

test('the page of the reference links to exactly the files next to it', () => {
  const { 'index.html': page = '', ...others } = referenceFiles()
  const links = [...page.matchAll(/href="([^"#]+)"/g)].map(([, path]) => path)
  expect(links.toSorted()).toEqual(Object.keys(others).toSorted())
})

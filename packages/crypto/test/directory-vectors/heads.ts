import { signDocument } from '../../src/directory/document.ts'
import { type Scene, signers } from '../directory-scene.ts'

// Heads of a directory.

const { ada } = signers

export async function headRows({ heads, headTexts, roots }: Scene) {
  const sign = (change: object) => signDocument('od1', { ...heads[2].body, ...change }, [ada])
  const root = roots[1].hash
  return {
    accepted: headTexts.map((text, at) => ({ text, hash: heads[at]!.hash, root: heads[at]!.body.root })),
    refused: [
      { title: 'an unknown member', text: await sign({ more: 1 }), root, expected: 'directory_malformed' },
      { title: 'another version of the format', text: await sign({ v: 2 }), root, expected: 'directory_unsupported' },
      { title: 'no head before it', text: await sign({ prev: null }), root, expected: 'directory_malformed' },
      {
        title: 'a first head after another one',
        text: await sign({ version: 1 }),
        root,
        expected: 'directory_malformed',
      },
      { title: 'a negative number of entries', text: await sign({ count: -1 }), root, expected: 'directory_malformed' },
    ],
  }
}

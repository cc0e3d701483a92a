import { encodeBase64url } from '../../src/base64url.ts'
import { canonicalJson } from '../../src/canonical-json.ts'
import { environmentKeyCommitment, managedKeyCommitment, readersHash } from '../../src/directory/commitments.ts'
import { type DirectoryEntry, formatEntry } from '../../src/directory/entries.ts'
import { directoryTree } from '../../src/directory/tree.ts'
import { openHasher } from '../../src/merkle.ts'
import { entries, ids, keyOf, kidOf, otherHash } from '../directory-scene.ts'

// Entries, the trees over them, and commitments to keys.

export async function entryRows() {
  const hasher = await openHasher()
  const [person] = entries as [DirectoryEntry]
  const refused = (title: string, key: string, value: unknown, expected = 'directory_malformed') => ({
    title,
    text: canonicalJson([key, value]),
    expected,
  })
  return {
    accepted: entries.map((entry) => ({
      text: formatEntry(entry),
      leaf: encodeBase64url(hasher.leaf([entry.key, entry.value])),
    })),
    refused: [
      refused('an unknown member', person.key, { ...person.value, more: 1 }),
      refused('a missing member', person.key, { kid: kidOf(1) }),
      refused('a capital letter in a name', 'environment/Shop/production', entries[4]!.value),
      refused('a group with layers', 'environment/shared:production', entries[4]!.value),
      refused('a guarded environment', `state/${otherHash}`, {}, 'directory_unsupported'),
      refused('an unknown kind', 'thing/x', {}, 'directory_unsupported'),
      {
        title: 'members out of order',
        text: `["${person.key}",{"kid":"${kidOf(1)}","email":"ada@example.com"}]`,
        expected: 'directory_malformed',
      },
    ],
  }
}

export async function treeRows() {
  const list = (count: number): DirectoryEntry[] =>
    Array.from({ length: count }, (_, at) => ({
      key: `person/usr_${String(at).padStart(22, '0')}` as const,
      value: { email: `${at}@example.com`, kid: kidOf(at) },
    }))
  const roots = await Promise.all(
    Array.from({ length: 10 }, async (_, count) => ({ count, entries: (await directoryTree(list(count))).entries })),
  )
  const tree = await directoryTree(list(7))
  const [first, last] = [list(7)[3]!.key, list(7)[6]!.key]
  const [proof, lastProof] = [tree.prove(first)!, tree.prove(last)!]
  const under = { count: 7, entries: tree.entries }
  return {
    about:
      'Trees over person/usr_<22 digits> with the number as digits, <number>@example.com and 32 bytes of the number.',
    roots,
    accepted: [
      { key: first, ...under, proof },
      { key: last, ...under, proof: lastProof },
    ],
    refused: [
      { title: 'another entry', key: last, ...under, proof, expected: 'directory_unproven' },
      {
        title: 'another position',
        key: first,
        ...under,
        proof: { ...proof, index: 2 },
        expected: 'directory_unproven',
      },
      { title: 'a position outside', key: first, ...under, proof: { ...proof, index: 7 }, expected: 'malformed_proof' },
      {
        title: 'a hash too few',
        key: first,
        ...under,
        proof: { ...proof, path: proof.path.slice(1) },
        expected: 'malformed_proof',
      },
      {
        title: 'a hash too many',
        key: first,
        ...under,
        proof: { ...proof, path: [...proof.path, otherHash] },
        expected: 'malformed_proof',
      },
      {
        title: 'another hash',
        key: first,
        ...under,
        proof: { ...proof, path: [otherHash, ...proof.path.slice(1)] },
        expected: 'directory_unproven',
      },
      {
        title: 'a malformed hash',
        key: first,
        ...under,
        proof: { ...proof, path: ['', ...proof.path.slice(1)] },
        expected: 'directory_malformed',
      },
    ],
  }
}

export const commitmentRows = async () => ({
  environmentKeys: [
    {
      id: ids.production,
      key: encodeBase64url(keyOf(6)),
      commitment: await environmentKeyCommitment(ids.production, keyOf(6)),
    },
  ],
  managedKeys: [
    {
      id: 'kms_0000000000000000000008',
      version: 12,
      key: encodeBase64url(keyOf(8)),
      commitment: await managedKeyCommitment('kms_0000000000000000000008', 12, keyOf(8)),
    },
  ],
  readers: await Promise.all(
    [
      [],
      [
        [`token/${ids.ci}`, kidOf(4)],
        [`person/${ids.ada}`, kidOf(1)],
      ] as [string, string][],
    ].map(async (readers) => ({ readers, hash: await readersHash(readers) })),
  ),
})

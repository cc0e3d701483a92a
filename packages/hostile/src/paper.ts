import { attacks } from './play.ts'

// The attacks of “Zero Knowledge (About) Encryption: A Comparative Security Analysis of Three Cloud-based Password Managers”
// (Scarlata, Torrisi, Backendal, Paterson; https://eprint.iacr.org/2026/058), with the numbers and names of its table 1.

interface PaperRow {
  /** Number and name. Attacks on several products that are one attack here share a row. */
  names: readonly (readonly [number: string, name: string])[]
  /** Whether Skerry has the same attack. */
  here: 'no' | 'in part' | 'without a pin'
  why: string
  /** The ids of our attacks. */
  played: readonly string[]
}

interface PaperClass {
  title: string
  rows: readonly PaperRow[]
}

const classes: readonly PaperClass[] = [
  {
    title: 'Key escrow',
    rows: [
      {
        names: [
          ['BW01', 'Malicious Auto-Enrolment'],
          ['LP01', 'Malicious Password Reset'],
          ['1P01', 'Malicious Recovery Group'],
        ],
        here: 'no',
        why: 'No client enrols anybody by itself. A client wraps a key to the recovery key only if signers signed the recovery key, or after a person compared its words',
        played: ['false-recovery-key'],
      },
      {
        names: [['BW02', 'Malicious Key Rotation']],
        here: 'no',
        why: 'A client gives a new key only to readers that a signer signed, or that a person accepts by name and words',
        played: ['added-reader', 'false-recovery-key'],
      },
      {
        names: [['BW03', 'Malicious KC Conversion']],
        here: 'no',
        why: 'No client gives a private key to a key connector or to the sign-in service',
        played: [],
      },
    ],
  },
  {
    title: 'Vault integrity',
    rows: [
      {
        names: [
          ['BW04', 'Unprotected Item Metadata'],
          ['LP06', 'Unprotected Item Metadata'],
        ],
        here: 'in part',
        why: 'Descriptions and tags are encrypted, and open only for their name. The server can read and change owners, expiry dates and notes',
        played: [],
      },
      {
        names: [
          ['BW05', 'Item Field Swapping'],
          ['LP02', 'Item Field Swapping'],
        ],
        here: 'no',
        why: 'A ciphertext opens only under its name and in its environment',
        played: ['renamed-value', 'value-of-a-group', 'value-of-a-branch'],
      },
      {
        names: [
          ['BW06', 'Icon URL Item Decryption'],
          ['LP03', 'Icon URL Item Decryption'],
        ],
        here: 'no',
        why: 'No client makes a request to an address that it reads from a value',
        played: [],
      },
      {
        names: [
          ['BW07', 'Remove KDF Iterations'],
          ['LP04', 'Remove KDF Iterations'],
          ['1P04', 'Remove KDF Iterations'],
        ],
        here: 'no',
        why: 'The client refuses a cost below 19 MiB and 2 passes. The client sends nothing that it derives from the passphrase',
        played: ['cheap-passphrase'],
      },
      {
        names: [['LP05', 'Malleable Vault']],
        here: 'no',
        why: 'Values are encrypted with AES-256-GCM. An altered ciphertext does not open',
        played: ['altered-value'],
      },
      {
        names: [['DL01', 'Transaction Replay']],
        here: 'in part',
        why: 'The head gives keys, groups and readers a date. Values have no date. A client notices an earlier value only if it saw the earlier and the newer value',
        played: ['earlier-value', 'replayed-value', 'older-state'],
      },
      {
        names: [['1P02', 'Item Dropping/Duplication']],
        here: 'in part',
        why: 'A client refuses a repeated name. A client with a pin also refuses a missing group. No client refuses a missing secret, because people delete secrets',
        played: ['missing-value', 'repeated-value', 'missing-layer'],
      },
      {
        names: [['1P03', 'Vault Injection']],
        here: 'without a pin',
        why: 'A client with a pin refuses an environment that no signer signed',
        played: ['invented-environment', 'added-layer', 'swapped-group'],
      },
    ],
  },
  {
    title: 'Sharing',
    rows: [
      {
        names: [['BW08', 'Organisation Injection']],
        here: 'in part',
        why: 'The server can list its own organization. A client that has a pin or remembers its organization uses no other organization',
        played: ['other-organization', 'head-of-another-organization'],
      },
      {
        names: [['BW09', 'Organisation Overwrite']],
        here: 'without a pin',
        why: 'A client with a pin refuses another organization, because the root names the organization. A client with a pin refuses another key, because an entry has a commitment to each key',
        played: ['replaced-key', 'key-of-the-server'],
      },
      {
        names: [
          ['LP07', 'Sharing Key Overwrite'],
          ['DL02', 'Sharing Key Overwrite'],
          ['1P05', 'Sharing Key Overwrite'],
        ],
        here: 'no',
        why: 'A client gives a key only to a person whose public key was signed by a signer, or compared in words',
        played: ['swapped-key-of-a-person', 'added-reader'],
      },
      {
        names: [['1P06', 'Vault Substitution Attack']],
        here: 'without a pin',
        why: 'A client with a pin refuses a key of the server, because it does not match the commitment',
        played: ['replaced-key', 'key-of-the-server', 'replaced-managed-key'],
      },
    ],
  },
  {
    title: 'Backwards compatibility',
    rows: [
      {
        names: [['BW10', 'Disable Per-Item Keys']],
        here: 'no',
        why: 'An environment has one key. No second scheme exists to which a client could fall back',
        played: [],
      },
      {
        names: [['BW11', 'User Key Overwriting']],
        here: 'no',
        why: 'The client computes a person’s public key from the private key. A keyring opens only for its own person',
        played: ['other-own-key', 'keyring-of-another-person'],
      },
      {
        names: [
          ['BW12', 'Downgrade to Legacy'],
          ['DL03', 'Item Injection'],
          ['DL05', 'CBC-Only Downgrade'],
          ['DL06', 'Lucky 64'],
        ],
        here: 'no',
        why: 'Every format is authenticated (AES-256-GCM, without padding). A client accepts no other format',
        played: ['other-format', 'altered-value'],
      },
      {
        names: [['DL04', 'Remove KDF Iterations']],
        here: 'no',
        why: 'The client demands a minimum cost, and no older format exists to which it could fall back',
        played: ['cheap-passphrase', 'other-format'],
      },
    ],
  },
]

/** Writes the table of the paper's attacks. */
export function formatPaper(): string {
  const known = new Set(attacks.map(({ id }) => id))
  const rows = classes.flatMap(({ title, rows: all }) =>
    all.map(({ names, here, why, played }) => {
      const unknown = played.find((id) => !known.has(id))
      if (unknown !== undefined) throw new Error(`no attack is called ${unknown}`)
      const numbered = names.map(([number, name]) => `${number} ${name}`).join('<br>')
      return `| ${title} | ${numbered} | ${here} | ${why} | ${played.map((id) => `\`${id}\``).join(', ')} |`
    }),
  )
  return ['| Class | The attack in the paper | In Skerry | Why | Played as |', '|---|---|---|---|---|', ...rows].join(
    '\n',
  )
}

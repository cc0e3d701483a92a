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
        why: 'No client enrols anybody by itself. A key goes to the recovery key only if signers signed it, or if a person compared its words',
        played: ['false-recovery-key'],
      },
      {
        names: [['BW02', 'Malicious Key Rotation']],
        here: 'no',
        why: 'A new key goes only to readers whom a signer signed, or whom a person accepts by name and words',
        played: ['added-reader', 'false-recovery-key'],
      },
      {
        names: [['BW03', 'Malicious KC Conversion']],
        here: 'no',
        why: 'No client gives a private key to a key connector or to the service where people sign in',
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
        why: 'Descriptions and tags are encrypted for one name. The server can read and change owners, expiry dates and notes',
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
        why: 'The client refuses a cost below 19 MiB and 2 passes. It sends nothing that it derives from the passphrase',
        played: ['cheap-passphrase'],
      },
      {
        names: [['LP05', 'Malleable Vault']],
        here: 'no',
        why: 'AES-256-GCM: an altered ciphertext does not open',
        played: ['altered-value'],
      },
      {
        names: [['DL01', 'Transaction Replay']],
        here: 'in part',
        why: 'The head dates keys, groups and readers. Values have no date: a client notices an earlier one only if it saw both',
        played: ['earlier-value', 'replayed-value', 'older-state'],
      },
      {
        names: [['1P02', 'Item Dropping/Duplication']],
        here: 'in part',
        why: 'A repeated name is refused, and so is a missing group with a pin. A missing secret is not, because people delete secrets',
        played: ['missing-value', 'repeated-value', 'missing-layer'],
      },
      {
        names: [['1P03', 'Vault Injection']],
        here: 'without a pin',
        why: 'With a pin: an environment that no signer signed does not exist',
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
        why: 'The server can list an organization of its own. A client with a pin or memory of its organization uses no other one',
        played: ['other-organization', 'head-of-another-organization'],
      },
      {
        names: [['BW09', 'Organisation Overwrite']],
        here: 'without a pin',
        why: 'With a pin: the root names the organization, and an entry has a commitment to each key',
        played: ['replaced-key', 'key-of-the-server'],
      },
      {
        names: [
          ['LP07', 'Sharing Key Overwrite'],
          ['DL02', 'Sharing Key Overwrite'],
          ['1P05', 'Sharing Key Overwrite'],
        ],
        here: 'no',
        why: 'A key goes only to a person whose public key a signer signed, or whose words somebody compared',
        played: ['swapped-key-of-a-person', 'added-reader'],
      },
      {
        names: [['1P06', 'Vault Substitution Attack']],
        here: 'without a pin',
        why: 'With a pin: a key that the server wrapped does not fit the commitment',
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
        why: 'An environment has one key. There is no second scheme to fall back to',
        played: [],
      },
      {
        names: [['BW11', 'User Key Overwriting']],
        here: 'no',
        why: 'A person’s public key is computed from the private key, and the keyring opens for its person alone',
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
        why: 'Every format is authenticated (AES-256-GCM, without padding). A client knows no other one',
        played: ['other-format', 'altered-value'],
      },
      {
        names: [['DL04', 'Remove KDF Iterations']],
        here: 'no',
        why: 'The cost has a minimum, and there is no older format to fall back to',
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

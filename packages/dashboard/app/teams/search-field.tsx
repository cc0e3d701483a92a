import { TextInput } from '@mantine/core'
import { IconSearch } from '../ui/icons.ts'

/** Shorter lists need no search. */
const searchedAbove = 12

/** The search of a list of a team. */
export function SearchField(props: { label: string; all: number; value: string; onChange: (search: string) => void }) {
  const { label, all, value, onChange } = props
  if (all <= searchedAbove) return null
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      mb="sm"
      maw={320}
      leftSection={<IconSearch size={15} />}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

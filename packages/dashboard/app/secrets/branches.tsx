import { Button, Checkbox, Menu } from '@mantine/core'
import { IconGitBranch } from '../ui/icons.ts'
import { MenuItems } from '../ui/menu-items.tsx'
import type { Environment } from './use-columns.ts'

/** The branches whose columns the matrix shows. */
export function Branches(props: { branches: Environment[]; chosen: string[]; onChoose: (chosen: string[]) => void }) {
  const { branches, chosen, onChoose } = props
  if (branches.length === 0) return null
  return (
    <Menu closeOnItemClick={false} position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconGitBranch size={15} />}>
          {chosen.length === 0 ? 'Branches' : `Branches (${chosen.length})`}
        </Button>
      </Menu.Target>
      <MenuItems mah={320} style={{ overflowY: 'auto' }}>
        <Menu.Label>Show beside their environment</Menu.Label>
        {branches.map(({ id, name, slug }) => (
          <Menu.Item
            key={id}
            aria-label={`${chosen.includes(id) ? 'Hide' : 'Show'} ${slug}`}
            onClick={() => onChoose(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])}
            leftSection={<Checkbox.Indicator size="xs" checked={chosen.includes(id)} />}
          >
            {name === slug ? slug : `${name} (${slug})`}
          </Menu.Item>
        ))}
      </MenuItems>
    </Menu>
  )
}

import { Anchor, type AnchorProps, Menu, type MenuItemProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'

// The library's components as links of the router, so that `to`, `params` and `search` are checked against the routes.
// What the router adds for the browser (`href`, `onClick` and so on) comes with the props of an `a`.

type Of<P> = P & Omit<ComponentProps<'a'>, keyof P>

/** A link in text. */
export const AnchorLink = createLink((props: Of<AnchorProps>) => <Anchor {...props} />)

/** An entry of a menu that leads somewhere. */
export const MenuLink = createLink((props: Of<MenuItemProps>) => <Menu.Item component="a" {...props} />)

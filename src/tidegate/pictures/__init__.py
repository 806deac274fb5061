"""Pictures of models: which unknown stands in which equation, which part is connected with which."""

from tidegate.pictures.connections import connections_scene, levels
from tidegate.pictures.equations import equations_scene
from tidegate.pictures.icons import icon_of, icons
from tidegate.pictures.picture import Picture

__all__ = ["Picture", "connections_scene", "equations_scene", "icon_of", "icons", "levels"]
